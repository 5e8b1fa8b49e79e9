import type { Format } from '../../conversation/format.ts';
import type { JsonObject } from '../../conversation/json.ts';
import type { MediaBlock, Message, Role } from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT, PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { type BlockPosition, linkTools } from '../../conversation/tool-links.ts';
import type { ChangeLog } from '../change-log.ts';
import type { LegalNameMap } from '../legal-names.ts';
import { type BlockReader, createBlockReader, isClientCall, isClientResult } from './block-parts.ts';

/** What one side says until another one speaks, written in no format yet. */
export interface Turn {
  readonly role: Role;
  /** Results come first, in the order of their calls, and only directly behind the turn that made these calls. */
  readonly parts: readonly Part[];
}

export type Part = TextPart | MediaPart | CallPart | ResultPart;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A picture, document or recording that can be carried over: its bytes with their type, or a public address. */
export type MediaPart = { readonly type: 'media'; readonly media: MediaBlock['media'] } & (
  | { readonly mimeType: string; readonly data: string; readonly url?: undefined }
  | { readonly url: string; readonly data?: undefined }
);

export interface CallPart {
  readonly type: 'call';
  /** Legal in the target, and of this call alone. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** The same as JSON; the very text of the source where that was text. */
  readonly inputText: string;
}

export interface ResultPart {
  readonly type: 'result';
  readonly id: string;
  readonly name: string;
  readonly isError: boolean;
  readonly content: readonly (TextPart | MediaPart)[];
}

/** What stands around the turns. */
export interface TurnFrame {
  readonly model: string | undefined;
  readonly instructions: readonly string[];
  readonly tools: readonly TurnTool[];
  readonly maxOutputTokens: number | undefined;
}

export interface TurnTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonObject;
}

/** All readable text of a result, for formats that take nothing else. */
export function resultText({ content, isError }: ResultPart): string {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return (isError ? [ERROR_NOTE, ...texts] : texts).join('\n');
}

/** In front of what a tool said, where a format has no other sign for errors. */
export const ERROR_NOTE = '[the tool reported an error]';

/** A format that conversations can be converted to. A new one is one file and one line in `convert.ts`. */
export interface Target {
  readonly format: Format;
  readonly maxIdLength: number;
  /** Whether instructions may stand in the list of messages: at its head and in its middle. */
  readonly listTakesInstructions: boolean;
  /** Whether the list may not end with blanks that the assistant wrote. */
  readonly refusesFinalSpace?: boolean;
  /** Whether this can stand in a user message, or in the result of a tool. */
  takesMedia(media: MediaPart, place: 'user' | 'result'): boolean;
  writeTurn(turn: Turn): readonly unknown[];
  /** A request around the list. */
  writeBody(list: readonly unknown[], frame: TurnFrame): JsonObject;
}

/** The object without the fields that are undefined. */
export function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Messages as turns of the target's order, and the instructions that stood in front of them. */
export interface Turns {
  readonly turns: readonly Turn[];
  readonly instructions: readonly string[];
}

export interface TurnOptions {
  readonly target: Target;
  readonly names: LegalNameMap;
  readonly changes: ChangeLog;
}

/**
 * Every call is followed at once by all results of its turn, wherever they stood; one that nobody answered gets a result
 * that says so. A result without a call becomes text.
 */
export function toTurns(all: readonly Message[], options: TurnOptions): Turns {
  const { messages, summary } = sinceSummary(all, options.changes);
  const results = findResults(messages);
  const builder = new TurnBuilder(options, createBlockReader({ ...options, paired: results.paired }));
  if (summary !== undefined) builder.say('user', [{ type: 'text', text: summaryMessageText(summary) }]);
  for (const [index, message] of messages.entries()) {
    builder.add(message, (block) => results.answerOf(index, block));
  }
  return builder.end();
}

/** A provider's own summary hides all that stands before it, so the target must not see that either. */
function sinceSummary(
  messages: readonly Message[],
  changes: ChangeLog,
): { readonly messages: readonly Message[]; readonly summary: string | undefined } {
  const textIn = ({ blocks }: Message): string | undefined =>
    blocks.flatMap((block) => (block.type === 'compaction' && block.text !== '' ? [block.text] : [])).at(-1);
  const start = messages.findLastIndex((message) => textIn(message) !== undefined);
  const found = messages[start];
  if (found === undefined) return { messages, summary: undefined };
  if (start > 0) changes.add("message before the provider's own summary", 'left out', start);
  return { messages: messages.slice(start), summary: textIn(found) };
}

interface Results {
  /** The message and block of the result that answers this call. */
  answerOf(message: number, block: number): Message['blocks'][number] | undefined;
  /** Whether the result that is this block answers a call. */
  readonly paired: ReadonlySet<unknown>;
}

function findResults(messages: readonly Message[]): Results {
  const blockAt = ({ message, block }: BlockPosition) => messages[message]?.blocks[block];
  const pairs = linkTools(messages).pairs;
  const answers = new Map(
    pairs.map(({ call, result }) => [`${call.message}:${call.block}`, blockAt(result)]),
  );
  return {
    answerOf: (message, block) => answers.get(`${message}:${block}`),
    paired: new Set(pairs.map(({ result }) => blockAt(result))),
  };
}

class TurnBuilder {
  private readonly options: TurnOptions;
  private readonly reader: BlockReader;
  private readonly turns: Turn[] = [];
  private readonly instructions: string[] = [];
  /** What the model is saying, and the results of the calls in it. */
  private saying: Part[] = [];
  private results: ResultPart[] = [];
  private moved: Part[] = [];

  constructor(options: TurnOptions, reader: BlockReader) {
    this.options = options;
    this.reader = reader;
  }

  add(message: Message, answerOf: (block: number) => Message['blocks'][number] | undefined): void {
    const role = message.blocks.some(isClientCall) ? 'assistant' : message.role;
    if (role !== 'assistant') this.flush();
    const parts: Part[] = [];
    for (const [index, block] of message.blocks.entries()) {
      if (isClientCall(block)) {
        const call = this.reader.call(block);
        parts.push(call);
        this.answer(call, answerOf(index));
      } else parts.push(...this.reader.parts(block, role));
    }
    if (role === 'assistant') this.saying.push(...parts);
    else if (role === 'system') this.instruct(parts);
    else this.say(role, parts);
  }

  end(): Turns {
    this.flush();
    if (this.options.target.refusesFinalSpace === true) this.trimEnd();
    const { turns, instructions } = this;
    const opensWithUser = turns[0]?.role !== 'assistant' || !this.options.target.format.userFirst;
    const stand: Turn = { role: 'user', parts: [{ type: 'text', text: PLACEHOLDER_TEXT }] };
    return { turns: turns.length > 0 && opensWithUser ? turns : [stand, ...turns], instructions };
  }

  private trimEnd(): void {
    const last = this.turns.at(-1);
    const final = last?.parts.at(-1);
    if (last?.role !== 'assistant' || final?.type !== 'text') return;
    const trimmed: Part = { type: 'text', text: final.text.trimEnd() };
    this.turns[this.turns.length - 1] = { ...last, parts: last.parts.with(-1, trimmed) };
  }

  /** Adds to the newest turn where one message of the target can hold both. */
  say(role: Role, parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const last = this.turns.at(-1);
    const { resultsStand } = this.options.target.format.tools;
    const joins = role === 'assistant' || (role === 'user' && resultsStand === 'next-message');
    if (joins && last?.role === role) {
      this.turns[this.turns.length - 1] = { role, parts: [...last.parts, ...parts] };
    } else this.turns.push({ role, parts });
  }

  private answer(call: CallPart, block: Message['blocks'][number] | undefined): void {
    if (block !== undefined && isClientResult(block)) {
      const { result, moved } = this.reader.result(block, call);
      this.results.push(result);
      this.moved.push(...moved);
      return;
    }
    this.options.changes.add('tool call without a result', 'given one that says so');
    const { id, name } = call;
    const content = [{ type: 'text', text: MISSING_RESULT_TEXT }] as const;
    this.results.push({ type: 'result', id, name, isError: true, content });
  }

  private flush(): void {
    const { saying, results, moved } = this;
    this.saying = [];
    this.results = [];
    this.moved = [];
    this.say('assistant', saying);
    this.say('user', results);
    this.say('user', moved);
  }

  private instruct(parts: readonly Part[]): void {
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    if (this.turns.length === 0) {
      this.instructions.push(...texts);
    } else if (this.options.target.listTakesInstructions) {
      this.say('system', parts);
    } else if (texts.length > 0) {
      this.options.changes.add('system message in the middle', 'turned into a marked user message');
      this.say('user', [{ type: 'text', text: `[system message]\n${texts.join('\n')}` }]);
    }
  }
}
