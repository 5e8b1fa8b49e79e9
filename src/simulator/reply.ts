import type { JsonObject } from '../core/json.ts';

/** A piece of what the model says. */
export type ReplyPart =
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly name: string; readonly input: JsonObject };

/** What the model says in one response, in no provider's format. */
export interface Reply {
  readonly parts: readonly ReplyPart[];
}

/** Why a reply ended: said all, called tools, reached the output limit, or filled the window. */
export type ReplyStop = 'end' | 'tool-call' | 'length' | 'window';

/** A reply as it went out, cut to what there was room for. */
export interface FittedReply extends Reply {
  readonly stop: ReplyStop;
  readonly outputTokens: number;
  readonly thinkingTokens: number;
}

/** Room for the output, and what it ends with when that is used up. */
export interface OutputRoom {
  readonly tokens: number;
  readonly stop: 'length' | 'window';
}

/** Cuts a reply to the room there is. A call that does not fit is left out whole, and everything behind a cut is gone. */
export function fitReply(reply: Reply, room: OutputRoom, countText: (text: string) => number): FittedReply {
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
    stop: isCut ? room.stop : calls ? 'tool-call' : 'end',
    outputTokens,
    thinkingTokens: Math.min(outputTokens, Math.ceil(thinkingTokens)),
  };
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
