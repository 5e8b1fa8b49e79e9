import type { JsonObject } from '../conversation/json.ts';

/** A piece of what the model says. */
export type ReplyPart =
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly name: string; readonly input: JsonObject };

/** What the model says in one response, in no provider's format. */
export interface Reply {
  readonly parts: readonly ReplyPart[];
}

/** Why a reply ended: said all, called tools, came to a stop sequence, reached the output limit, or filled the window. */
export type ReplyStop = 'end' | 'tool-call' | 'stop-sequence' | 'length' | 'window';

/** A reply as it went out, cut to what there was room for. */
export interface FittedReply extends Reply {
  readonly stop: ReplyStop;
  /** The sequence that ended it; only with `stop-sequence`. */
  readonly stopSequence?: string | undefined;
  readonly outputTokens: number;
  readonly thinkingTokens: number;
}

/** Room for the output, and what it ends with when that is used up. */
export interface OutputRoom {
  readonly tokens: number;
  readonly stop: 'length' | 'window';
}

/** What ends a reply before it has said all. */
export interface ReplyLimits extends OutputRoom {
  /** Texts that end the output where they begin. Default: none. */
  readonly stopSequences?: readonly string[] | undefined;
}

/** A model that says nothing. */
export const silence: FittedReply = { parts: [], stop: 'end', outputTokens: 0, thinkingTokens: 0 };

/**
 * Cuts a reply at the first stop sequence in what it says, and to the room there is. A call that does not fit is left
 * out whole, and everything behind a cut is gone.
 */
export function fitReply(whole: Reply, room: ReplyLimits, countText: (text: string) => number): FittedReply {
  const { reply, stopSequence } = stopAt(whole, room.stopSequences ?? []);
  const parts: ReplyPart[] = [];
  let used = 0;
  let thinkingTokens = 0;
  let isCut = false;
  for (const part of reply.parts) {
    const fitted = fitPart(part, room.tokens - used, countText);
    const tokens = fitted === undefined ? 0 : sizeOf(fitted, countText);
    if (fitted !== undefined) parts.push(fitted);
    used += tokens;
    if (part.type === 'thinking') thinkingTokens += tokens;
    isCut = fitted !== part;
    if (isCut) break;
  }
  const calls = parts.some(({ type }) => type === 'tool-call');
  const outputTokens = Math.min(room.tokens, Math.ceil(used));
  return {
    parts,
    ...(isCut ? { stop: room.stop } : endOf(calls, stopSequence)),
    outputTokens,
    thinkingTokens: Math.min(outputTokens, Math.ceil(thinkingTokens)),
  };
}

function endOf(calls: boolean, stopSequence: string | undefined): Pick<FittedReply, 'stop' | 'stopSequence'> {
  if (stopSequence !== undefined) return { stop: 'stop-sequence', stopSequence };
  return { stop: calls ? 'tool-call' : 'end' };
}

/** Only what the model says aloud is looked through. */
function stopAt(
  whole: Reply,
  sequences: readonly string[],
): { readonly reply: Reply; readonly stopSequence?: string | undefined } {
  for (const [index, part] of whole.parts.entries()) {
    const found = part.type === 'text' ? findFirst(part.text, sequences) : undefined;
    if (part.type !== 'text' || found === undefined) continue;
    const text = part.text.slice(0, found.at);
    const last: readonly ReplyPart[] = text.trim() === '' ? [] : [{ ...part, text }];
    return { reply: { parts: [...whole.parts.slice(0, index), ...last] }, stopSequence: found.sequence };
  }
  return { reply: whole };
}

function findFirst(text: string, sequences: readonly string[]) {
  const found = sequences
    .filter((sequence) => sequence !== '')
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0);
  return found.toSorted((left, right) => left.at - right.at)[0];
}

function fitPart(
  part: ReplyPart,
  roomTokens: number,
  countText: (text: string) => number,
): ReplyPart | undefined {
  const tokens = sizeOf(part, countText);
  if (tokens <= roomTokens) return part;
  if (part.type === 'tool-call' || roomTokens < 1) return undefined;
  const length = Math.floor((part.text.length * roomTokens) / tokens);
  const text = part.text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
  return text.trim() === '' ? undefined : { ...part, text };
}

function sizeOf(part: ReplyPart, countText: (text: string) => number): number {
  return part.type === 'tool-call'
    ? countText(part.name) + countText(JSON.stringify(part.input))
    : countText(part.text);
}

const pieceCharacters = 12;

/** A text in the pieces in which a model streams it. No piece ends inside a character. */
export function inPieces(text: string): readonly string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / pieceCharacters) }, (_, index) =>
    characters.slice(index * pieceCharacters, (index + 1) * pieceCharacters).join(''),
  );
}
