import type { JsonObject } from '../conversation/json.ts';
import { type Block, callArguments, textOf } from '../conversation/message.ts';
import { SUMMARY_HEADING } from '../conversation/summary-message.ts';
import type { Turn } from './script.ts';

/** Knows how many rounds of a script each conversation has played. */
export interface ScriptProgress {
  /** Rounds that were played in the conversation of this request. */
  playedIn(turn: Turn): number;
  /** A round was played. `lastCall` is what it ended with; undefined when nothing was called in it. */
  played(turn: Turn, round: number, lastCall: ScriptedCall | undefined): void;
  /** The script has come to its end: whatever is asked next in this conversation begins it again. */
  answered(turn: Turn): void;
  /** A client was given this text to go on from, instead of its history. */
  summarised(text: string): void;
}

/** A call as the script makes it. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/**
 * Finds the place of a conversation by the newest call in its history, which every compaction of a proxy leaves where it
 * is. Where a client went on from a summary alone, the newest conversation with the same tools is taken for it: how many
 * results a history still holds tells nothing.
 */
export function createProgress(): ScriptProgress {
  const byCall = new Map<string, number>();
  const byTools = new Map<string, number>();
  const summaries = new Set<string>();
  let newest = 0;

  return {
    playedIn(turn) {
      // Requests for a title or for a summary offer no tools, and may tell the history in a text of their own.
      if (turn.tools.length === 0) return newest;
      if (isBeginning(turn, summaries)) return 0;
      const call = newestCall(turn);
      const place = call === undefined ? undefined : byCall.get(nameOfCall(call));
      return place ?? byTools.get(nameOfTools(turn)) ?? 0;
    },
    played(turn, round, lastCall) {
      newest = round;
      byTools.set(nameOfTools(turn), round);
      if (lastCall !== undefined) byCall.set(nameOfCall(lastCall), round);
    },
    answered(turn) {
      byTools.set(nameOfTools(turn), 0);
    },
    summarised(text) {
      summaries.add(text);
    },
  };
}

/** Whether the model has said nothing yet, and nothing stands for what it has said. */
function isBeginning({ conversation }: Turn, summaries: ReadonlySet<string>): boolean {
  const marks = [SUMMARY_HEADING, ...summaries];
  const tellsEarlier = (block: Block): boolean => {
    if (block.type === 'compaction') return true;
    const text = textOf(block);
    return marks.some((mark) => mark !== '' && text.includes(mark));
  };
  return conversation.messages.every(
    ({ role, blocks }) => role !== 'assistant' && !blocks.some(tellsEarlier),
  );
}

/** The call that the model has ended its newest response with; undefined when it said something behind it. */
function newestCall({ conversation }: Turn): ScriptedCall | undefined {
  const block = conversation.messages.findLast(({ role }) => role === 'assistant')?.blocks.at(-1);
  if (block?.type !== 'tool-call') return undefined;
  return { name: block.name, input: callArguments(block) ?? { input: block.input } };
}

function nameOfCall({ name, input }: ScriptedCall): string {
  return JSON.stringify([name, input]);
}

function nameOfTools({ tools }: Turn): string {
  return JSON.stringify(tools.map(({ name }) => name));
}
