/** Reads a conversation as turns in the order that every target takes: each call followed by its result. */

import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import {
  type Block,
  callArguments,
  type MediaBlock,
  type Message,
  type Role,
  type ToolCallBlock,
  textOf,
} from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT, PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { type BlockPosition, linkTools } from '../../conversation/tool-links.ts';
import type { ChangeLog } from '../change-log.ts';
import { isClientCall, isClientResult, toJson } from '../content.ts';
import { LegalNames } from '../legal-names.ts';
import type { CallPart, MediaPart, Part, ResultPart, Target, TextPart, Turn } from './target.ts';

/** Messages as turns of the target's order, and the instructions that stood in front of them. */
export interface Turns {
  readonly turns: readonly Turn[];
  readonly instructions: readonly string[];
}

export interface TurnOptions {
  readonly target: Target;
  readonly names: LegalNames;
  readonly changes: ChangeLog;
}

const NOTED = 'replaced by a note';
const AS_TEXT = 'turned into text';

/**
 * Every call is followed at once by all results of its turn, wherever they stood; one that nobody answered gets a result
 * that says so. A result without a call becomes text.
 */
export function toTurns(all: readonly Message[], options: TurnOptions): Turns {
  const { messages, summary } = sinceSummary(all, options.changes);
  const builder = new TurnBuilder(messages, options);
  if (summary !== undefined) builder.say('user', [text(summaryMessageText(summary))]);
  for (const [index, message] of messages.entries()) builder.add(message, index);
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

class TurnBuilder {
  private readonly options: TurnOptions;
  private readonly ids: LegalNames;
  /** For each call, by message and block, the result that answers it. */
  private readonly answers: ReadonlyMap<string, Block | undefined>;
  /** The client's results that answer a call. */
  private readonly paired: ReadonlySet<Block>;
  private readonly turns: Turn[] = [];
  private readonly instructions: string[] = [];
  /** What the model is saying, the results of the calls in it, and what of these has to stand behind them. */
  private saying: Part[] = [];
  private results: ResultPart[] = [];
  private moved: Part[] = [];

  constructor(messages: readonly Message[], options: TurnOptions) {
    this.options = options;
    this.ids = new LegalNames(options.target.maxIdLength, 'call');
    const blockAt = ({ message, block }: BlockPosition) => messages[message]?.blocks[block];
    const pairs = linkTools(messages).pairs;
    const keyOf = ({ message, block }: BlockPosition) => `${message}:${block}`;
    this.answers = new Map(pairs.map(({ call, result }) => [keyOf(call), blockAt(result)]));
    this.paired = new Set(
      [...this.answers.values()].filter((block) => block !== undefined && isClientResult(block)),
    );
  }

  add({ blocks, role: speaker }: Message, index: number): void {
    const role = blocks.some(isClientCall) ? 'assistant' : speaker;
    if (role !== 'assistant') this.flush();
    const parts = blocks.flatMap((block, position): readonly Part[] => {
      if (!isClientCall(block)) return this.paired.has(block) ? [] : partsOf(block, role, this.options);
      const call = readCall(block, this.ids, this.options);
      this.answer(call, this.answers.get(`${index}:${position}`));
      return [call];
    });
    if (role === 'assistant') this.saying.push(...parts);
    else if (role === 'system') this.instruct(parts);
    else this.say(role, parts);
  }

  end(): Turns {
    this.flush();
    const { turns, instructions } = this;
    const { target } = this.options;
    const last = turns.at(-1);
    const final = last?.parts.at(-1);
    if (target.refusesFinalSpace === true && last?.role === 'assistant' && final?.type === 'text') {
      turns[turns.length - 1] = { ...last, parts: last.parts.with(-1, text(final.text.trimEnd())) };
    }
    const opensWithUser = turns[0]?.role !== 'assistant' || !target.format.userFirst;
    if (turns.length === 0 || !opensWithUser)
      turns.unshift({ role: 'user', parts: [text(PLACEHOLDER_TEXT)] });
    return { turns, instructions };
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

  private answer({ id, name }: CallPart, block: Block | undefined): void {
    if (block === undefined || !isClientResult(block)) {
      this.options.changes.add('tool call without a result', 'given one that says so');
      this.results.push({ type: 'result', id, name, isError: true, content: [text(MISSING_RESULT_TEXT)] });
      return;
    }
    const inner = block.content.map((one) => readInner(one, name, this.options));
    const content = inner.flatMap(({ held }) => held);
    this.results.push({ type: 'result', id, name, isError: block.isError, content });
    this.moved.push(...inner.flatMap(({ moved }) => moved));
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
      this.say('user', [text(`[system message]\n${texts.join('\n')}`)]);
    }
  }
}

function text(words: string): TextPart {
  return { type: 'text', text: words };
}

function readCall(block: ToolCallBlock, ids: LegalNames, { names, changes }: TurnOptions): CallPart {
  const id = ids.take(block.id);
  const name = names.get(block.name);
  if (block.id !== undefined && id !== block.id) changes.add('call id', 'made legal');
  if (name !== block.name) changes.add('tool name', 'made legal');
  const parsed = callArguments(block);
  if (parsed !== undefined) {
    const inputText = typeof block.input === 'string' ? block.input : (toJson(parsed) ?? '{}');
    return { type: 'call', id, name, input: parsed, inputText };
  }
  const isEmpty = block.input === undefined || block.input === null || block.input === '';
  if (!isEmpty) changes.add('call without a JSON object as arguments', 'wrapped as {"input": …}');
  const input = isEmpty ? {} : { input: block.input };
  return { type: 'call', id, name, input, inputText: toJson(input) ?? '{}' };
}

/** Everything but the client's calls and their results. */
function partsOf(block: Block, role: Role, { target, changes }: TurnOptions): readonly Part[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [text(block.text)];
    case 'media': {
      if (block.text !== undefined && block.text.trim() !== '') return [text(block.text)];
      const media = mediaPartOf(block);
      if (role === 'user' && media !== undefined && target.takesMedia(media, 'user')) return [media];
      changes.add(block.media, NOTED);
      return [text(`[${block.media} left out]`)];
    }
    case 'reasoning':
      changes.add('reasoning block', 'left out');
      return [];
    case 'tool-call':
      changes.add("call of a provider's own tool", AS_TEXT);
      return [text(`[the provider ran ${block.name}: ${toJson(block.input) ?? ''}]`)];
    case 'tool-result': {
      const isOrphan = isClientResult(block);
      changes.add(isOrphan ? 'tool result without a call' : "result of a provider's own tool", AS_TEXT);
      const words = block.content.map((inner) => textOf(inner) || (toJson(inner.raw) ?? ''));
      return [text(['[result of an earlier tool call]', ...words].join('\n'))];
    }
    case 'compaction':
      // The text of the newest one stands in front of everything already.
      if (block.text !== '') return [];
      changes.add("provider's own summary", NOTED);
      return [text('[a summary that only its provider can read]')];
    case 'other':
      changes.add(`${block.wireType ?? 'unknown'} block`, NOTED);
      return [text(`[left out: ${block.wireType ?? 'something unknown'}]`)];
  }
}

/** A block inside of a result, and what of it has to stand in a message of its own. Data of other kinds is shown as JSON. */
function readInner(
  block: Block,
  tool: string,
  { target, changes }: TurnOptions,
): { readonly held: readonly (TextPart | MediaPart)[]; readonly moved: readonly Part[] } {
  if (block.type !== 'media') {
    const words = block.type === 'other' ? (toJson(block.raw) ?? '') : textOf(block);
    return { held: words.trim() === '' ? [] : [text(words)], moved: [] };
  }
  if (block.text !== undefined) return { held: [text(block.text)], moved: [] };
  const media = mediaPartOf(block);
  if (media !== undefined && target.takesMedia(media, 'result')) return { held: [media], moved: [] };
  if (media === undefined || !target.takesMedia(media, 'user')) {
    changes.add(block.media, NOTED);
    return { held: [text(`[${block.media} left out]`)], moved: [] };
  }
  changes.add(`${block.media} in a tool result`, 'moved behind it');
  return {
    held: [text(`[${block.media}: see the message behind the results]`)],
    moved: [text(`[${block.media} from the result of ${tool}]`), media],
  };
}

/** What can be carried over of a media block, from whatever format; undefined where only its provider has the bytes. */
function mediaPartOf({ media, data, raw }: MediaBlock): MediaPart | undefined {
  const outer: JsonObject = isObject(raw) ? raw : {};
  const fields = [outer, ...HOLDERS.map((key) => outer[key]).filter(isObject)];
  const addresses = stringsUnder(fields, ADDRESS_KEYS);
  if (data !== undefined && data !== '') {
    const mimeType = statedType(fields, addresses) ?? guessType(data);
    return mimeType === undefined ? undefined : { type: 'media', media, mimeType, data };
  }
  const url = addresses.find((address) => /^https?:\/\//i.test(address.slice(0, 10)));
  return url === undefined ? undefined : { type: 'media', media, url };
}

/** Keys under which formats keep the facts of a file, one level down. */
const HOLDERS = ['source', 'image_url', 'input_audio', 'file', 'inlineData', 'inline_data'];

// Addresses of Gemini's own store (`fileUri`) are public to nobody else.
const ADDRESS_KEYS = ['url', 'image_url', 'file_url', 'file_data', 'image', 'data'];
const TYPE_KEYS = ['media_type', 'mimeType', 'mime_type', 'mediaType'];

function stringsUnder(fields: readonly JsonObject[], keys: readonly string[]): readonly string[] {
  return fields.flatMap((holder) => keys.flatMap((key) => asString(holder[key]) ?? []));
}

function statedType(fields: readonly JsonObject[], addresses: readonly string[]): string | undefined {
  const stated = stringsUnder(fields, TYPE_KEYS).find((type) => type.includes('/'));
  if (stated !== undefined) return stated;
  const inUrls = addresses.map(
    (address) => /^data:([a-z]+\/[\w.+-]{1,80})/i.exec(address.slice(0, 120))?.[1],
  );
  const ofAudio = stringsUnder(fields, ['format']).map((format) => AUDIO_TYPES.get(format));
  return [...inUrls, ...ofAudio].find((type) => type !== undefined);
}

const AUDIO_TYPES: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
]);

/** First characters of files in base64. */
const BEGINNINGS: readonly (readonly [beginning: string, mimeType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
];

function guessType(data: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1];
}
