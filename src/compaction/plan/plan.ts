import { RoundfoldError } from '../../conversation/errors.ts';
import { type Conversation, withMessages } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { applyStep } from './plan-step.ts';

/**
 * One change to a list of messages. Edits are data, in the coordinates of the list they are made for: they can be looked
 * at, stored and applied later.
 *
 * - `drop`: the messages from `start` up to and without `end` leave
 * - `summarize`: they leave, and a user message with `text` stands in their place
 * - `insert`: a user message with `text` comes before the message at `before`; it may be the summary of what is dropped
 * - `rewrite`: the content of a tool result becomes `text`
 * - `strip`: a block leaves, or (with `inner`) a block inside a tool result; `text` stands in its place where given
 */
export type Edit =
  | {
      readonly type: 'drop';
      readonly start: number;
      readonly end: number;
      /** A summary elsewhere in the list speaks for them. */
      readonly isSummarised?: boolean;
    }
  | { readonly type: 'summarize'; readonly start: number; readonly end: number; readonly text: string }
  | {
      readonly type: 'insert';
      readonly before: number;
      readonly text: string;
      /** Texts that stand in front of it in the same message. */
      readonly opening?: readonly string[];
      /** It speaks for the messages that are dropped as summarised. */
      readonly isSummary?: boolean;
    }
  | { readonly type: 'rewrite'; readonly message: number; readonly block: number; readonly text: string }
  | {
      readonly type: 'strip';
      readonly message: number;
      readonly block: number;
      readonly inner?: number;
      readonly text?: string;
    };

/** What became of an original message. */
export type Fate = 'verbatim' | 'reduced' | 'summarised' | 'dropped';

/** Everything that shall happen to one list, step by step. Each step is in the coordinates of the list it finds. */
export interface Plan {
  readonly steps: readonly (readonly Edit[])[];
}

/** A stretch of the original list: taken over from the new one, or kept because it left or was changed. */
type UndoRun = { readonly from: number; readonly count: number } | { readonly raws: readonly unknown[] };

/** What it takes to have the original list back. Plain data. */
export interface UndoRecord {
  readonly version: 1;
  /** How many messages the changed list had: what a conversation has behind them came later, and stays. */
  readonly length: number;
  readonly runs: readonly UndoRun[];
}

export interface AppliedPlan {
  readonly conversation: Conversation;
  readonly undo: UndoRecord;
  /** One for each original message. */
  readonly fates: readonly Fate[];
}

/**
 * The conversation after all steps, and the way back. Untouched messages are the same values; nothing given is changed.
 * @throws RoundfoldError `usage` when edits overlap or point outside the list
 */
export function applyPlan(conversation: Conversation, plan: Plan): AppliedPlan {
  const { messages, format } = conversation;
  let current = messages;
  let trace: Trace | undefined;
  for (const edits of plan.steps) {
    const step = applyStep(current, edits, format);
    trace = trace === undefined ? step : compose(trace, step);
    current = step.messages;
  }
  const whole = trace ?? unchanged(messages);
  return {
    conversation: withMessages(conversation, current),
    undo: lazyUndo(messages, current, whole),
    fates: whole.fates,
  };
}

/** What happened to a list so far: for each current message the original it is (-1: it was made), and all fates. */
interface Trace {
  readonly origins: readonly number[];
  readonly fates: readonly Fate[];
}

function unchanged(messages: readonly Message[]): Trace {
  return { origins: [...messages.keys()], fates: messages.map(() => 'verbatim') };
}

function compose({ origins: earlier, fates: earlierFates }: Trace, step: Trace): Trace {
  const fates = earlierFates.slice();
  for (const [index, fate] of step.fates.entries()) {
    const origin = earlier[index] ?? -1;
    if (origin >= 0 && fate !== 'verbatim') fates[origin] = fate;
  }
  const origins = step.origins.map((index) => (index < 0 ? -1 : (earlier[index] ?? -1)));
  return { origins, fates };
}

/** The way back is worked out when somebody asks for it: most compactions are never undone. */
function lazyUndo(before: readonly Message[], after: readonly Message[], trace: Trace): UndoRecord {
  let runs: readonly UndoRun[] | undefined;
  return {
    version: 1,
    length: after.length,
    get runs() {
      runs ??= undoRuns(before, after, trace.origins);
      return runs;
    },
  };
}

/**
 * The original conversation, from the one a plan was applied to and the record it left, with everything that was added
 * since.
 * @throws RoundfoldError `usage` when the conversation is shorter than the one the record is about
 */
export function undoPlan(conversation: Conversation, undo: UndoRecord): Conversation {
  const { format, messages } = conversation;
  if (messages.length < undo.length) {
    const lengths = `${messages.length} messages, where the record is about ${undo.length}`;
    throw new RoundfoldError('usage', `this undo record belongs to another conversation: ${lengths}`, {
      remedy: 'Give the conversation that the compaction made, or one that goes on from it.',
    });
  }
  const original = undo.runs.flatMap((run) =>
    'raws' in run
      ? run.raws.map((raw) => format.readMessage(raw))
      : // Read again, so that what was reported for the original context is known again.
        messages.slice(run.from, run.from + run.count).map(({ raw }) => format.readMessage(raw)),
  );
  return withMessages(conversation, [...original, ...messages.slice(undo.length)]);
}

function undoRuns(
  before: readonly Message[],
  after: readonly Message[],
  origins: readonly number[],
): readonly UndoRun[] {
  const places = new Int32Array(before.length).fill(-1);
  for (const [place, origin] of origins.entries()) if (origin >= 0) places[origin] = place;
  const runs: ({ from: number; count: number } | { raws: unknown[] })[] = [];
  for (const [index, { raw }] of before.entries()) {
    const place = places[index] ?? -1;
    const isSame = place >= 0 && after[place]?.raw === raw;
    const last = runs.at(-1);
    if (isSame) {
      if (last !== undefined && 'from' in last && last.from + last.count === place) last.count++;
      else runs.push({ from: place, count: 1 });
    } else if (last !== undefined && 'raws' in last) last.raws.push(raw);
    else runs.push({ raws: [raw] });
  }
  return runs;
}
