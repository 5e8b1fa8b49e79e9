import { isObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';

/** Takes out of a text what nobody shall see. */
export type Redact = (text: string) => string;

/** What of a message is no text, and how its calls are told apart from the rest. */
interface Anatomy {
  /** Ids, and bytes: changed they would be worth nothing, and nobody reads them. */
  readonly tokens: ReadonlySet<string>;
  readonly bytes: readonly string[];
  /** Values that stay as they are as a whole. */
  readonly sealed: ReadonlySet<unknown>;
  /** Inputs of calls: what is secret in them is told by the names of their fields, so they are seen as JSON as well. */
  readonly inputs: ReadonlySet<unknown>;
}

/**
 * The raw value of a message after `redact` has seen every text in it, wherever it stands and however often: formats
 * write the same call in several places. The very same value when nothing was changed.
 */
export function redactRaw(message: Message, redact: Redact): unknown {
  return redactWith(message.raw, redact, anatomyOf(message));
}

/** Any other value, in the same way. */
export function redactValue(value: unknown, redact: Redact): unknown {
  return redactWith(value, redact, nothingSpecial);
}

const nothingSpecial: Anatomy = { tokens: new Set(), bytes: [], sealed: new Set(), inputs: new Set() };

function anatomyOf({ blocks, responseId }: Message): Anatomy {
  const tokens = new Set<string>();
  const bytes: string[] = [];
  const sealed = new Set<unknown>();
  const inputs = new Set<unknown>();
  const keep = (id: string | undefined): void => {
    if (id !== undefined && id !== '') tokens.add(id);
  };
  keep(responseId);
  for (const block of blocks.flatMap((each) =>
    each.type === 'tool-result' ? [each, ...each.content] : [each],
  )) {
    if (block.type === 'tool-call') {
      keep(block.id);
      inputs.add(block.input);
    } else if (block.type === 'tool-result') keep(block.callId);
    else if (block.type === 'media' && block.data !== undefined && block.data !== '') bytes.push(block.data);
    else if (block.type === 'reasoning' && isObject(block.raw)) sealed.add(block.raw);
  }
  return { tokens, bytes, sealed, inputs };
}

/** Nothing from a wire is as deep; what is deeper is left out. */
const DEEPEST = 200;
const TOO_DEEP = '[left out]';

function redactWith(root: unknown, redact: Redact, { tokens, bytes, sealed, inputs }: Anatomy): unknown {
  const done = new Map<unknown, unknown>();

  const redactText = (text: string): string => {
    if (tokens.has(text) || bytes.some((data) => isBytes(text, data))) return text;
    return inputs.has(text) ? redactArguments(text, redact) : redact(text);
  };

  const visit = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (typeof value !== 'object' || value === null || sealed.has(value) || ArrayBuffer.isView(value))
      return value;
    if (depth > DEEPEST) return TOO_DEEP;
    if (done.has(value)) return done.get(value);
    // Live objects may hold themselves.
    done.set(value, TOO_DEEP);
    const isInput = inputs.has(value) && isObject(value);
    const visited = isInput ? redactInput(value, redact) : mapObject(value, (each) => visit(each, depth + 1));
    done.set(value, visited);
    return visited;
  };

  return visit(root, 0);
}

function isBytes(text: string, data: string): boolean {
  return text === data || (text.startsWith('data:') && text.endsWith(data));
}

/** The object or list with other values; the very same one when they are the same. */
function mapObject(value: object, map: (value: unknown) => unknown): object {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => map(item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value).map(
    ([key, each]: [string, unknown]) => [key, each, map(each)] as const,
  );
  if (entries.every(([, before, after]) => before === after)) return value;
  const copy: object = Object.fromEntries(entries.map(([key, , after]) => [key, after]));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || !isObject(prototype)) return copy;
  // A message of a library's class is told by its methods.
  return Object.create(prototype, Object.getOwnPropertyDescriptors(copy)) as object;
}

/** Arguments as they stand on the wire: JSON, in which a line break inside a secret is an escape. */
function redactArguments(text: string, redact: Redact): string {
  const value = tryParse(text);
  const redacted = isObject(value) ? redactValue(value, redact) : value;
  return redact(redacted === value ? text : JSON.stringify(redacted));
}

function redactInput(input: object, redact: Redact): object {
  const redacted = redactValue(input, redact);
  const text = tryStringify(redacted);
  const seen = text === undefined ? undefined : redact(text);
  if (seen === undefined || seen === text) return isObject(redacted) ? redacted : {};
  const value = tryParse(seen);
  return isObject(value) ? value : { text: seen };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for what has no JSON: live values may hold big integers. */
function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined; // a function or a symbol gives undefined
  } catch {
    return undefined;
  }
}
