import { findContract } from '../../src/contracts/registry.ts';
import type { Folded } from '../../src/proxy/folder.ts';
import { headerOf, type RawHeaders } from '../../src/proxy/headers.ts';
import type { Item } from './keeper-items.ts';
import type { WorldAnswer } from './proxy-upstream.ts';
import { callIdsIn, noncesIn, type SummaryNote, summaryIdsIn } from './summary-oracle.ts';

/** What a client sends besides the turns of its conversation. */
export type RequestKind = 'turn' | 'bypassed' | 'compaction' | 'count' | 'fragment' | 'unreadable';

/** A request of a client, and everything that came of it so far. */
export interface Exchange {
  readonly kind: RequestKind;
  /** The hash that the proxy knows the client by; undefined for a client without a credential. */
  readonly tenant: string | undefined;
  readonly credential: string | undefined;
  readonly items: readonly Item[];
  /** Its messages, as they stand in its body. */
  readonly messages: readonly string[];
  readonly body: string;
  /** What stands in the body behind the messages. */
  readonly bodyEnd: string;
  /** What the folder made of it, one for each try. */
  readonly folds: Folded[];
  /** What upstream answered, in order; undefined where nothing came. */
  readonly answers: (WorldAnswer | undefined)[];
  /** Whether the store failed while it was under way. */
  isStoreTroubled: boolean;
}

/** First try, and three more when it is too long. */
export const MOST_CALLS = 4;

/** Why a request of each kind passes as it came. */
const passReasons: Readonly<Partial<Record<RequestKind, string>>> = {
  bypassed: 'bypassed',
  compaction: 'client-compacts',
  fragment: 'fragment',
  unreadable: 'unreadable',
};

export interface JudgedCall {
  readonly exchange: Exchange;
  readonly folded: Folded;
  readonly headers: RawHeaders;
  /** What upstream got instead of the client's own bytes. */
  readonly rewritten: string | undefined;
  findSummary(id: string): SummaryNote | undefined;
}

/** @throws Error when upstream must not get this */
export function judgeCall(call: JudgedCall): void {
  const { exchange, folded, headers, rewritten } = call;
  const { kind, tenant, body } = exchange;
  const isAsked = kind !== 'bypassed' && kind !== 'unreadable';
  const reason = tenant === undefined && isAsked ? 'no-tenant' : passReasons[kind];
  if (headerOf(headers, 'x-roundfold-bypass') !== undefined) throw new Error('the bypass header went on');
  const isSame = folded.status === 'unchanged' || folded.status === 'passed';
  if (isSame !== (rewritten === undefined)) throw new Error(`${folded.status}, and another body: ${!isSame}`);
  if (rewritten === undefined) {
    if (reason !== undefined && folded.reason !== reason)
      throw new Error(`passed for ${folded.reason}, not for ${reason}`);
    return;
  }
  if (reason !== undefined) throw new Error(`${kind} was rewritten, although ${reason}`);
  if (rewritten === body) throw new Error('a body was written anew although nothing was changed');
  if (headerOf(headers, 'content-length') !== String(Buffer.byteLength(rewritten)))
    throw new Error('the length in the header is not that of the body');
  judgeBody(call, rewritten);
}

function judgeBody({ exchange, folded, findSummary }: JudgedCall, rewritten: string): void {
  const value = JSON.parse(rewritten) as { readonly messages: readonly unknown[] };
  const endpoint = exchange.kind === 'count' ? 'count-tokens' : 'messages';
  const fault = findContract('anthropic-messages')
    ?.check(value, { endpoint })
    .find(({ severity }) => severity === 'error');
  if (fault !== undefined) throw new Error(`${fault.rule} ${fault.path}: ${fault.message}`);
  const lastAnswer = exchange.items.findLastIndex(({ kind }) => kind === 'assistant' || kind === 'call');
  const currentTurn = `${exchange.messages.slice(lastAnswer + 1).join()}]${exchange.bodyEnd}`;
  if (!rewritten.endsWith(currentTurn)) throw new Error('it does not end as the client ended');

  const places = new Map(exchange.messages.map((text, index) => [text, index]));
  const sent = value.messages.map((message) => JSON.stringify(message));
  const verbatim = sent.flatMap((text) => places.get(text) ?? []);
  if (verbatim.some((place, index) => index > 0 && place <= (verbatim[index - 1] ?? -1)))
    throw new Error('a message was sent twice or in another place');
  const made = sent.filter((text) => !places.has(text)).join();
  judgeCoverage({ exchange, folded, findSummary }, { verbatim: new Set(verbatim), made });
}

interface View {
  readonly verbatim: ReadonlySet<number>;
  /** The text of everything that is not the client's. */
  readonly made: string;
}

/**
 * How many messages the memory says that it stands for which is written where the model fails. It chooses what it tells, so
 * not every nonce is in it.
 */
function toldByOurselves(made: string): number {
  return Number(/covered_until=(\d{1,9}) source=roundfold>\\nMemory of /.exec(made)?.[1] ?? 0);
}

/** Every message is there or covered, by a memory of this very conversation, and not both. */
function judgeCoverage(
  { exchange, folded, findSummary }: Pick<JudgedCall, 'exchange' | 'folded' | 'findSummary'>,
  { verbatim, made }: View,
): void {
  const { items, tenant } = exchange;
  const own = new Set(items.map(({ nonce }) => nonce));
  const covered = new Set<number>();
  const calls = new Set(callIdsIn(JSON.parse(`[${made}]`)));
  for (const id of summaryIdsIn(made)) {
    const note = findSummary(id);
    if (note?.tenant !== tenant) throw new Error('a memory that was made for another tenant');
    for (const nonce of note?.nonces ?? []) covered.add(nonce);
    for (const call of note?.calls ?? []) calls.add(call);
  }
  const foreign = [...covered, ...noncesIn(made)].find((nonce) => !own.has(nonce));
  if (foreign !== undefined) throw new Error(`${foreign} is no message of this conversation`);
  const twice = items.find(({ nonce }, index) => verbatim.has(index) && covered.has(nonce));
  if (twice !== undefined) throw new Error(`${twice.nonce} is there and in a memory as well`);
  // What is left out for this once is told by the status, and nothing of it is kept.
  if (folded.status === 'reduced') return;
  const shown = new Set([...covered, ...noncesIn(made)]);
  const told = toldByOurselves(made);
  const hidden = items.find(
    ({ nonce, id }, index) =>
      index >= told && !verbatim.has(index) && !shown.has(nonce) && !(id !== '' && calls.has(id)),
  );
  if (hidden !== undefined)
    throw new Error(`${hidden.kind} ${hidden.nonce} is neither there nor in a memory`);
}

/** @throws Error when the client is told something else than what was done, or something is left open */
export function judgeAnswer(
  exchange: Exchange,
  answer: WorldAnswer,
  { added, stored }: { readonly added: RawHeaders; readonly stored: readonly string[] },
): void {
  const { answers, folds } = exchange;
  const place = answers.indexOf(answer);
  if (place !== 0 && place !== answers.length - 1) throw new Error('the answer of another try');
  const folded = folds[place];
  const told = {
    status: folded?.status,
    reason: folded?.reason,
    checkpoint: folded?.isStored === true ? folded.checkpoint : undefined,
    recoveries: place === 0 ? undefined : String(place),
  };
  for (const [name, value] of Object.entries(told))
    if (headerOf(added, `x-roundfold-${name}`) !== value)
      throw new Error(`${name} is said to be ${headerOf(added, `x-roundfold-${name}`)}, and is ${value}`);
  if (told.checkpoint !== undefined && !stored.includes(told.checkpoint))
    throw new Error(`checkpoint ${told.checkpoint} is named, and the store has not taken it`);
  if (answer.isDiscarded) throw new Error('the answer was thrown away');
  judgeNothingOpen(exchange, answer);
}

/** @throws Error when an answer that nobody reads was not given up */
export function judgeNothingOpen({ answers }: Exchange, read: WorldAnswer | undefined): void {
  if (answers.some((each) => each !== undefined && each !== read && !each.isDiscarded))
    throw new Error('an answer that nobody reads stays open');
}
