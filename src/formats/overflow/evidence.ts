/** What one object of an error says by itself. */
export interface Statement {
  /** HTTP status: its own, else that of the object it stood in. */
  readonly status: number | undefined;
  /** Values of `code`, `type` and their like. */
  readonly codes: readonly string[];
  /** Messages as normalised text. */
  readonly texts: readonly string[];
  /** llama.cpp states its numbers as fields too. */
  readonly promptTokens: number | undefined;
  readonly windowTokens: number | undefined;
}

const maximumDepth = 6;
const maximumObjects = 100;
const maximumListItems = 16;
const maximumCharacters = 524_288;
// Long text is clipped before it is searched, so one huge message must not silence the rest.
const maximumCharge = 65_536;

const statusKeys = ['status', 'statusCode', 'status_code', 'httpStatus', 'code'];
const codeKeys = ['code', 'type', 'error_code', 'errorCode', 'error_type', '__type', 'name'];

// Where clients, gateways and servers put the message, and where they put the error inside the error. `errors` comes
// last: it holds earlier attempts, and `lastError` says more.
const contentKeys = [
  ...['message', 'error', 'detail', 'details', 'errorDetails', 'error_message', 'msg', 'responseBody'],
  ...['body', 'data', 'metadata', 'raw', 'response', 'lastError', 'cause', 'errors'],
];

// The status at the head of a client's message: `400 {"type":…`, `Error code: 429 - …`, `APIError: 413 status code`.
const leadingStatus =
  /^(?:[\w.]{1,60}: )?(?:api error: |error code: |http(?:\/[\d.]{1,4})? )?([45]\d\d)(?![\d,.])(?! (?:tokens|characters|images|pages))/iu;

interface Pending {
  readonly value: unknown;
  readonly depth: number;
  readonly status: number | undefined;
}

/**
 * Everything an error says, one statement per object, outermost first. Reads wrapped errors, lists of errors and JSON
 * inside of strings, down to a depth of 6. Objects and characters are bounded; cycles and throwing getters do no harm.
 */
export function collectStatements(error: unknown, status: number | undefined): readonly Statement[] {
  const queue: Pending[] = [{ value: error, depth: 0, status }];
  const seen = new Set<object>();
  const budget = { characters: maximumCharacters };
  const statements: Statement[] = [];
  // The queue grows while it is read: what an object contains is looked at after its siblings.
  for (const pending of queue) {
    const subject = toSubject(pending.value);
    if (subject === undefined || seen.has(subject)) continue;
    if (seen.size === maximumObjects) break;
    seen.add(subject);
    const { statement, inner } = readSubject(subject, pending, budget);
    if (statement !== undefined) statements.push(statement);
    if (pending.depth === maximumDepth) continue;
    const depth = pending.depth + 1;
    queue.push(...inner.map((value) => ({ value, depth, status: statement?.status ?? pending.status })));
  }
  return statements;
}

/** A string speaks for itself, so it is treated as an object with nothing but a message. */
function toSubject(value: unknown): object | undefined {
  if (typeof value === 'string') return { message: value };
  return typeof value === 'object' && value !== null ? value : undefined;
}

function readSubject(
  subject: object,
  pending: Pending,
  budget: { characters: number },
): { readonly statement?: Statement; readonly inner: readonly unknown[] } {
  const items = listItems(subject);
  if (items !== undefined) return { inner: items };
  const texts: string[] = [];
  const inner: unknown[] = [];
  for (const key of contentKeys) {
    const content = readKey(subject, key);
    if (typeof content !== 'string') {
      inner.push(content);
      continue;
    }
    if (budget.characters <= 0) continue;
    budget.characters -= Math.min(content.length, maximumCharge);
    const { words, values } = separateJson(content);
    if (words.trim() !== '') texts.push(normaliseText(clipText(words)));
    inner.push(...values);
  }
  const statement: Statement = {
    status: settleStatus(subject, pending, texts),
    codes: codeKeys.flatMap((key) => toCode(readKey(subject, key))),
    texts,
    promptTokens: toCount(readKey(subject, 'n_prompt_tokens')),
    windowTokens: toCount(readKey(subject, 'n_ctx')),
  };
  return { statement, inner };
}

/** From the outside in: what the server answered goes before what its body claims, unless it answered with success. */
function settleStatus(subject: object, outer: Pending, texts: readonly string[]): number | undefined {
  if (outer.status !== undefined && outer.status >= 300) return outer.status;
  const own = statusKeys.map((key) => toStatus(readKey(subject, key)));
  const leading = texts.map((text) => toStatus(leadingStatus.exec(text)?.[1]));
  return [...own, ...leading].find((status) => status !== undefined) ?? outer.status;
}

/** Undefined for what is no list. Even asking may throw: a proxy can be revoked. */
function listItems(subject: object): readonly unknown[] | undefined {
  try {
    return Array.isArray(subject) ? subject.slice(0, maximumListItems) : undefined;
  } catch {
    return [];
  }
}

/** Errors are made by strangers: a getter or a proxy may throw. */
function readKey(subject: object, key: string): unknown {
  try {
    return Reflect.get(subject, key);
  } catch {
    return undefined;
  }
}

function toStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 200 && status < 600 ? status : undefined;
}

function toCode(value: unknown): readonly string[] {
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value.length <= 200 ? [value] : [];
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** A message taken apart: what is prose, and what was JSON inside of it. */
interface SeparatedText {
  readonly words: string;
  readonly values: readonly unknown[];
}

const maximumJsonLength = 262_144;
const maximumEvents = 64;

/**
 * Finds JSON in a client's message (`400 {"error":…}`), in a body given as text, and in the `data:` lines of an event
 * stream. What was parsed is left out of `words`: only its known fields may speak, never a text that merely quotes an
 * error. Text without JSON comes back whole.
 */
function separateJson(text: string): SeparatedText {
  const start = text.indexOf('{');
  if (start === -1 || text.length > maximumJsonLength) return { words: text, values: [] };
  const end = text.lastIndexOf('}') + 1;
  const whole = parse(text.slice(start, end));
  if (whole !== undefined) return { words: `${text.slice(0, start)} ${text.slice(end)}`, values: [whole] };
  return /^(?:event|data|id|retry|:)/.test(text) ? parseEvents(text) : { words: text, values: [] };
}

function parseEvents(text: string): SeparatedText {
  const values = text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .slice(-maximumEvents)
    .map((line) => parse(line.slice('data:'.length)))
    .filter((value) => value !== undefined);
  return { words: '', values };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const clippedLength = 8192;

/** The first and the last 8 kB. An error's own words stand at either end; the middle is what it quotes. */
function clipText(text: string): string {
  if (text.length <= 2 * clippedLength) return text;
  return `${text.slice(0, clippedLength)}\n${text.slice(-clippedLength)}`;
}

// `>` and `'` as some servers escape them inside JSON, for text that is too broken to be parsed.
const plain = new Map([
  [String.raw`\u003e`, '>'],
  [String.raw`\u003c`, '<'],
  [String.raw`\u0027`, "'"],
  ['&gt;', '>'],
  ['&lt;', '<'],
  ['\u2019', "'"],
]);

/** One line with single spaces, plain quotes and no escapes, so that a pattern need not care how a message was wrapped. */
function normaliseText(text: string): string {
  return text
    .replaceAll(
      /\\u00(?:3[ec]|27)|&[gl]t;|\u2019/gi,
      (escaped) => plain.get(escaped.toLowerCase()) ?? escaped,
    )
    .replaceAll(/\s+/g, ' ')
    .trim();
}
