import { RoundfoldError } from './errors.ts';
import { type Message, textOf } from './message.ts';

/** First line of every message that stands for earlier ones. */
export const SUMMARY_HEADING = '[earlier conversation summary]';

// In every request from then on, so that each of its words is paid for again and again.
const NOTE = 'Background by software, not a request.';

/** What a summary says about its place, for clients that keep it in their own list and send it back. */
export interface SummaryMarker {
  /** How many messages of the original list it stands for, those in front of it included. */
  readonly coveredUntil: number;
  /** Who wrote it: letters, digits and `_ . : -`, at most 128. A marker of another source is ordinary text. */
  readonly source: string;
}

/**
 * What stands in front of a summary in the same message, word for word:
 *
 * - `said`: a text of the user's, for formats in which two messages of the user may not stand next to each other
 * - `request`: the newest request of the user, which the kept messages no longer hold
 * - `system`: a system message that may not stand by itself where it would have to
 */
export interface Opening {
  readonly kind: 'said' | 'request' | 'system';
  readonly text: string;
}

const OPENING_HEADINGS = {
  request: '[newest request of the user before the messages below]\n',
  system: '[system message from earlier, word for word]\n',
} as const;

/** The text of the block that stands in front of a summary. */
export function openingText({ kind, text }: Opening): string {
  return kind === 'said' ? text : `${OPENING_HEADINGS[kind]}${text}`;
}

function readOpening(text: string): Opening {
  for (const kind of ['request', 'system'] as const) {
    const heading = OPENING_HEADINGS[kind];
    if (text.startsWith(heading)) return { kind, text: text.slice(heading.length) };
  }
  return { kind: 'said', text };
}

/** Whether a text of the user's can be told from a quotation when it is read back. */
export function canBeSaid(text: string): boolean {
  return readOpening(text).kind === 'said';
}

/** What stands where messages were dropped that no summary speaks for. */
export const DROPPED_TEXT = '[earlier messages were removed to save space]';

/**
 * What a message of ours has in front of its summary, or of the note that messages were dropped; undefined for every
 * message that is not ours.
 */
export function readOpenings(message: Message): readonly Opening[] | undefined {
  const texts = textsOf(message);
  if (texts === undefined) return undefined;
  const isOurs = texts.at(-1) === DROPPED_TEXT || readSummaryText(texts.at(-1) ?? '') !== undefined;
  return isOurs ? texts.slice(0, -1).map(readOpening) : undefined;
}

/** The texts of a user message that holds nothing else; undefined for every other message. */
function textsOf({ role, blocks }: Message): readonly string[] | undefined {
  if (role !== 'user' || blocks.length === 0 || blocks.some(({ type }) => type !== 'text')) return undefined;
  return blocks.map(textOf);
}

/** A message of ours, read. */
export interface ReadSummary {
  readonly summary: string;
  readonly marker: SummaryMarker | undefined;
  /** The name under which the messages that stood here can be read again. */
  readonly handle: string | undefined;
}

/**
 * The text of a message that stands for earlier ones: a heading, a note, and the summary between two lines that nothing in
 * it can forge, because they carry a word that does not occur in it.
 * @param marker put into the opening line, where it survives every client that keeps role and text. What is no whole
 *   number from 0 on counts as 0.
 * @param handle the name under which the messages that stood here can be read again, put there too
 * @throws RoundfoldError `usage` for a source or a handle that could not be read back
 */
export function summaryMessageText(summary: string, marker?: SummaryMarker, handle?: string): string {
  const word = shortTokenFor(summary);
  const about = `${handle === undefined ? '' : handleText(handle)}${marker === undefined ? '' : markerText(marker)}`;
  return `${HEAD}${word}${about}>\n${summary}\n</summary ${word}>`;
}

const HEAD = `${SUMMARY_HEADING}\n${NOTE}\n<summary `;
const SOURCE = /^[\w.:-]{1,128}$/;
const ABOUT = /^(?: handle=(rf:\w{1,64}))?(?: covered_until=(\d{1,16}) source=([\w.:-]{1,128}))?$/;
const HANDLE = /^rf:\w{1,64}$/;

function handleText(handle: string): string {
  if (HANDLE.test(handle)) return ` handle=${handle}`;
  throw new RoundfoldError(
    'usage',
    'a handle begins with `rf:` and has at most 64 letters and digits behind it',
  );
}

function markerText({ coveredUntil, source }: SummaryMarker): string {
  if (!SOURCE.test(source)) {
    throw new RoundfoldError('usage', 'the source of a summary holds characters that cannot be read back', {
      remedy: 'Use letters, digits and `_ . : -`, at most 128 of them.',
    });
  }
  const isCount = Number.isSafeInteger(coveredUntil) && coveredUntil >= 0;
  return ` covered_until=${isCount ? coveredUntil : 0} source=${source}`;
}

/** The summary in a message of ours; undefined for every other message, a forged or a damaged one included. */
export function readSummaryMessage(message: Message): string | undefined {
  return readMarkedSummary(message)?.summary;
}

/**
 * The summary in a message of ours, and the marker where it has one. Only a text that `summaryMessageText` would have
 * written is one of ours; undefined for every other message.
 */
export function readMarkedSummary(message: Message): ReadSummary | undefined {
  const text = textsOf(message)?.at(-1);
  return text === undefined ? undefined : readSummaryText(text);
}

function readSummaryText(text: string): ReadSummary | undefined {
  if (!text.startsWith(HEAD)) return undefined;
  const opened = text.indexOf('>\n', HEAD.length);
  if (opened === -1) return undefined;
  const line = text.slice(HEAD.length, opened);
  const space = line.indexOf(' ');
  const word = space === -1 ? line : line.slice(0, space);
  const tail = `\n</summary ${word}>`;
  if (!text.endsWith(tail)) return undefined;
  const about = ABOUT.exec(space === -1 ? '' : line.slice(space));
  if (about === null) return undefined;
  const [, handle, coveredUntil, source] = about;
  const marker = source === undefined ? undefined : { coveredUntil: Number(coveredUntil), source };
  const summary = text.slice(opened + 2, text.length - tail.length);
  return summaryMessageText(summary, marker, handle) === text ? { summary, marker, handle } : undefined;
}

/** A text between two lines that do not occur in it. */
export interface Fenced {
  /** The opening line. */
  readonly open: string;
  /** The closing line. */
  readonly close: string;
  /** Opening line, text and closing line. */
  readonly text: string;
}

/**
 * Puts a text between two lines that it cannot forge: they carry a token that occurs in none of `texts`, not even in
 * other case, in full-width letters or with invisible characters in between. The token is derived from the texts, so
 * that the same texts always give the same lines.
 */
export function fence(label: string, text: string, token: string): Fenced {
  const open = `<<<${label} ${token}>>>`;
  const close = `<<<end ${label} ${token}>>>`;
  return { open, close, text: `${open}\n${text}\n${close}` };
}

/**
 * A token for `fence` that occurs in none of the texts.
 * @param propose the candidate of each attempt, every time another one; default: a hash of the texts
 */
export function tokenFor(
  texts: readonly string[],
  propose: (attempt: number) => string = hashOf(texts),
): string {
  const folded = texts.map(fold);
  // Every attempt gives another token, and texts of n characters hold fewer than n of them, so this ends.
  for (let attempt = 0; ; attempt++) {
    const token = propose(attempt);
    if (!folded.some((text) => text.includes(token))) return token;
  }
}

function hashOf(texts: readonly string[]): (attempt: number) => string {
  return (attempt) => `${attempt.toString(36)}${hash(texts, attempt)}`;
}

const SHORT_TOKEN = 4;
const SHORT_ATTEMPTS = 8;

/**
 * The same for one text that is sent again and again: a token of four characters, if one is found that does not occur in it. What
 * protects is that it does not, and not how long it is.
 */
export function shortTokenFor(text: string): string {
  const propose = hashOf([text]);
  return tokenFor([text], (attempt) =>
    attempt < SHORT_ATTEMPTS ? hash([text], attempt).slice(0, SHORT_TOKEN) : propose(attempt),
  );
}

const INVISIBLE = /\p{Cf}/gu;

function fold(text: string): string {
  return text.normalize('NFKC').replaceAll(INVISIBLE, '').toLowerCase();
}

/** FNV-1a over the UTF-16 units of all texts, as eight hexadecimal digits. Not a secret: `includes` is what protects. */
function hash(texts: readonly string[], seed: number): string {
  let state = (0x811c9dc5 ^ seed) >>> 0;
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) {
      state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
    }
    state = Math.imul(state ^ 0x1f, 0x01000193);
  }
  return (state >>> 0).toString(16).padStart(8, '0');
}
