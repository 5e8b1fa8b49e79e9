import type { Conversation, Format } from './format.ts';
import { isObject, type JsonObject } from './json.ts';
import type { Message } from './message.ts';
import { type Hash, sha256 } from './sha256.ts';

/**
 * What identifies the beginning of a conversation, for every length: a hash over the messages as sorted JSON, in which
 * neither the order of keys nor a short form nor a volatile part makes a difference. System messages in front of all
 * others are apart, like instructions outside the list: they pass as they are, and what was summarised stays true under
 * others. All coordinates count from the first message behind them. A system message further back is a message like others.
 */
export interface Chain {
  /** Number of system messages in front. */
  readonly head: number;
  /** Number of messages behind the head. */
  readonly length: number;
  /** What stands for the first `count` messages behind the head: worked out when it is asked for, and as far. */
  linkAt(count: number): string;
}

/**
 * What clients change in messages that stay the same: two requests that differ in nothing else have the same chain. Names
 * of fields; a path with dots leads into a field, and `*` stands for any key. What stands inside the arguments or the
 * output of a tool is never volatile, whatever it is called.
 */
export interface VolatileParts {
  /** In a message and in every block of it, however deep: cache markers. */
  readonly anywhere: readonly string[];
  /** In a message itself alone: an `id` or a `timestamp` that a client makes anew for every request. */
  readonly ofMessages: readonly string[];
}

export interface ChainOptions {
  /** Default: `sha256`. */
  readonly hash?: Hash | undefined;
  /** On top of the cache markers of each format. */
  readonly volatile?: Partial<VolatileParts> | undefined;
}

export interface Chains {
  /** The chain of a conversation. */
  chainOf(conversation: Pick<Conversation, 'format' | 'messages'>): Chain;
  /**
   * A message without what is volatile anywhere in it: one that is kept for later requests must not keep a cache marker of
   * this one. The very same value when there is nothing to leave out.
   */
  withoutMarkers(raw: unknown, format: Pick<Format, 'name'>): unknown;
}

/** Changes with the way of writing, so that chains of another one never match. */
const VERSION = 4;

/** Makes chains. Keep it: what it remembers of messages makes the next turn cheap. */
export function createChains({ hash = sha256, volatile = {} }: ChainOptions = {}): Chains {
  // A message that was changed in place gets a new view, so a remembered link is never out of date.
  const known = new WeakMap<Message, { readonly before: string; readonly link: string }>();

  const nextLink = (before: string, message: Message, rules: BlockRules): string => {
    const remembered = known.get(message);
    if (remembered?.before === before) return remembered.link;
    const link = hash(`${before}\n${sortedJson(message.raw, rules)}`);
    known.set(message, { before, link });
    return link;
  };

  return {
    chainOf({ format, messages }) {
      const rules = messageRules(format.name, volatile);
      const first = messages.findIndex(({ role }) => role !== 'system');
      const head = first === -1 ? messages.length : first;
      const length = messages.length - head;
      const seed = hash(JSON.stringify(['roundfold chain', VERSION, format.name, volatile]));
      const links = [seed];
      const linkAt = (count: number): string => {
        const wanted = Math.min(count, length);
        for (const message of messages.slice(head + links.length - 1, head + wanted))
          links.push(nextLink(links.at(-1) ?? seed, message, rules));
        return links[wanted] ?? seed;
      };
      return { head, length, linkAt };
    },
    withoutMarkers: (raw, { name }) => withoutMarkers(raw, messageRules(name, volatile).ofBlocks),
  };
}

/** Whether a conversation begins with the messages that a link of a chain stands for. */
export function beginsWith(
  chain: Chain,
  { boundary, chain: link }: { readonly boundary: number; readonly chain: string },
): boolean {
  return boundary <= chain.length && chain.linkAt(boundary) === link;
}

/** Messages by which a conversation with all its branches is known. */
export const NAMING_MESSAGES = 4;

/** The name of a conversation: the chain after its first messages. */
export function nameOfConversation(chain: Chain): string {
  return chain.linkAt(NAMING_MESSAGES);
}

/** All names a conversation can have, the present one first: it may have been named when it had fewer messages. */
export function namesOfConversation(chain: Chain): readonly string[] {
  const longest = Math.min(NAMING_MESSAGES, chain.length);
  return Array.from({ length: Math.max(longest, 1) }, (_one, index) => chain.linkAt(longest - index));
}

/** What a wire format writes in several ways that mean exactly the same. */
interface Spelling {
  /** Keys that lead from a message to its blocks and from there to blocks inside. Whatever stands under others is data. */
  readonly structure: readonly string[];
  /** Cache markers, wherever they stand. */
  readonly markers: readonly string[];
  /** Type of the block that a plain string under a structural key is short for; undefined where it is no short form. */
  shortFor?(owner: JsonObject, key: string): string | undefined;
  /** Whether a field says nothing that a missing one does not say. */
  saysNothing?(key: string, value: unknown, owner: JsonObject): boolean;
}

const CACHE_MARKERS = ['cache_control', 'prompt_cache_breakpoint'];

const AI_SDK_MARKERS = [
  'providerOptions',
  'providerMetadata',
  'callProviderMetadata',
  'experimental_providerMetadata',
].flatMap((key) => ['cacheControl', 'cache_control', 'cachePoint'].map((marker) => `${key}.*.${marker}`));

/** Fields that providers answer with when there is nothing to say, and that many clients send back. */
const NULLS_OF_ANSWERS = [
  'refusal',
  'audio',
  'function_call',
  'tool_calls',
  'annotations',
  'content',
  'name',
];

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** One row for each wire format. */
const spellings: ReadonlyMap<string, Spelling> = new Map<string, Spelling>([
  [
    'anthropic-messages',
    {
      structure: ['content', 'source'],
      markers: CACHE_MARKERS,
      shortFor: ({ role, type }, key) =>
        key === 'content' && (role !== undefined || type === 'tool_result') ? 'text' : undefined,
      saysNothing: (key, value, { type }) =>
        (key === 'is_error' && value === false && type === 'tool_result') ||
        (key === 'citations' && value === null && type === 'text'),
    },
  ],
  [
    'openai-chat',
    {
      structure: ['content'],
      markers: CACHE_MARKERS,
      shortFor: ({ role }) => (role === undefined ? undefined : 'text'),
      saysNothing: (key, value, { role, tool_calls: calls }) =>
        role !== undefined &&
        ((value === null && NULLS_OF_ANSWERS.includes(key)) ||
          (key === 'annotations' && isEmptyList(value)) ||
          // An answer of calls alone: some clients write no content, some an empty one.
          (key === 'content' && value === '' && Array.isArray(calls))),
    },
  ],
  [
    'openai-responses',
    {
      structure: ['content', 'output'],
      markers: CACHE_MARKERS,
      shortFor({ role, type }, key) {
        if (key === 'content' && role !== undefined)
          return role === 'assistant' ? 'output_text' : 'input_text';
        return key === 'output' && type === 'function_call_output' ? 'input_text' : undefined;
      },
      saysNothing: (key, value, { role, type }) =>
        (key === 'type' && value === 'message' && role !== undefined) ||
        ((key === 'annotations' || key === 'logprobs') && isEmptyList(value) && type === 'output_text'),
    },
  ],
  [
    'gemini',
    {
      structure: ['parts'],
      markers: [],
      saysNothing: (key, value, { parts }) => key === 'role' && value === 'user' && parts !== undefined,
    },
  ],
  [
    'ai-sdk-model',
    {
      structure: ['content'],
      markers: AI_SDK_MARKERS,
      shortFor: ({ role }) => (role === 'user' || role === 'assistant' ? 'text' : undefined),
    },
  ],
  ['ai-sdk-ui', { structure: ['parts'], markers: AI_SDK_MARKERS }],
  ['langchain', { structure: ['content', 'kwargs', 'data'], markers: CACHE_MARKERS, shortFor: () => 'text' }],
]);

/** For formats without a row: every field counts as it is written. */
const STRICT: Spelling = { structure: [], markers: [] };

/** Names on the way into a field. */
type Path = readonly string[];

/** What is left out, by the first name of its path. */
type VolatileFields = ReadonlyMap<string, readonly Path[]>;

/** How a message or a block of a wire format is written down. */
interface BlockRules extends Spelling {
  readonly volatile: VolatileFields;
  /** How the blocks in it are, where that is something else. */
  readonly ofBlocks?: BlockRules;
}

/** In a message itself more is volatile than in its blocks. */
function messageRules(
  format: string,
  volatile: Partial<VolatileParts>,
): BlockRules & { readonly ofBlocks: BlockRules } {
  const spelling = spellings.get(format) ?? STRICT;
  const anywhere = [...spelling.markers, ...(volatile.anywhere ?? [])];
  const ofBlocks = { ...spelling, volatile: volatileFields(anywhere) };
  const ofMessages = [...anywhere, ...(volatile.ofMessages ?? [])];
  return { ...spelling, volatile: volatileFields(ofMessages), ofBlocks };
}

function volatileFields(paths: readonly string[]): VolatileFields {
  const fields = new Map<string, Path[]>();
  for (const [first = '', ...rest] of paths.map((path) => path.split('.')))
    fields.set(first, [...(fields.get(first) ?? []), rest]);
  return fields;
}

/** The object with other fields, less those that are undefined; the very same one when all fields stay as they are. */
function changeFields(object: JsonObject, change: (field: unknown, key: string) => unknown): JsonObject {
  const kept: [string, unknown][] = [];
  let isSame = true;
  for (const key of Object.keys(object)) {
    const left = change(object[key], key);
    if (left !== object[key]) isSame = false;
    if (left !== undefined) kept.push([key, left]);
  }
  // Made from entries, so that no key has a meaning of its own.
  return isSame ? object : Object.fromEntries(kept);
}

/** What is left of a field without the parts that the paths lead to; undefined when nothing is. */
function withoutPaths(value: unknown, paths: readonly Path[]): unknown {
  if (paths.some(({ length }) => length === 0)) return undefined;
  if (paths.length === 0 || !isObject(value)) return value;
  const left = changeFields(value, (field, key) => {
    const below = paths.filter(([first]) => first === key || first === '*');
    return withoutPaths(
      field,
      below.map(([, ...rest]) => rest),
    );
  });
  return left !== value && Object.keys(left).length === 0 ? undefined : left;
}

function withoutMarkers(value: unknown, rules: BlockRules): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutMarkers(item, rules));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  return changeFields(value, (field, key) => {
    const left = withoutPaths(field, rules.volatile.get(key) ?? []);
    return rules.structure.includes(key) ? withoutMarkers(left, rules) : left;
  });
}

/** Objects with a `toJSON` (dates, URLs, instances of a class) as they are in JSON. Its answer is taken as it is. */
function inJsonTerms(value: unknown): unknown {
  if (!isObject(value) || typeof value['toJSON'] !== 'function' || isBytes(value)) return value;
  const told: unknown = value['toJSON']();
  return isObject(told) ? { ...told, toJSON: undefined } : told;
}

function isBytes(value: unknown): value is ArrayBufferView | ArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function bytesOf(value: ArrayBufferView | ArrayBuffer): Uint8Array {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Decodes each of the 256 bytes into another character. */
const oneCharacterEach = new TextDecoder('latin1');

/**
 * Any value as JSON in which keys are in order. What JSON has no word for is written so that nothing else reads the same.
 * With rules it is a message or a block, and written in the one spelling that all have that say the same.
 */
function sortedJson(given: unknown, rules?: BlockRules): string {
  const value = inJsonTerms(given);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => sortedJson(item, rules)).join(',')}]`;
  if (isBytes(value)) return `bytes ${JSON.stringify(oneCharacterEach.decode(bytesOf(value)))}`;
  if (typeof value === 'bigint') return `bigint ${value}`;
  // Undefined, functions and symbols are null in a list.
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  let fields = '';
  for (const key of Object.keys(value).sort()) {
    const field = rules === undefined ? value[key] : kept(value, key, rules);
    if (isLeftOut(field)) continue;
    const inner = rules?.structure.includes(key) === true ? (rules.ofBlocks ?? rules) : undefined;
    fields += `${fields === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(field, inner)}`;
  }
  return `{${fields}}`;
}

/** A field of a message or a block in its one spelling; undefined when it is volatile or says nothing. */
function kept(owner: JsonObject, key: string, rules: BlockRules): unknown {
  const value = owner[key];
  if (rules.saysNothing?.(key, value, owner) === true) return undefined;
  const paths = rules.volatile.get(key);
  const left = paths === undefined ? value : withoutPaths(value, paths);
  if (typeof left !== 'string' || !rules.structure.includes(key)) return left;
  const type = rules.shortFor?.(owner, key);
  return type === undefined ? left : [{ text: left, type }];
}

/** What JSON leaves out of objects. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}
