import type { ConversationWishes } from '../stores/store.ts';
import type { Answer, ChunkSink, Outgoing } from './answer.ts';
import { clientOf, type TenantOptions, tenantOf } from './caller.ts';
import { answerCompaction } from './compactions/answer-compaction.ts';
import { withMemoriesInBody } from './compactions/own-items.ts';
import type { OwnAnswer } from './errors.ts';
import { passed } from './fold.ts';
import type { Folded, Folder, FoldRequest } from './folder.ts';
import { BYPASS_HEADER, forwardedHeaders, headerOf, type RawHeaders, rewrittenHeaders } from './headers.ts';
import type { ExchangeRecord, ProxyObserver, ReportedUsage } from './record.ts';
import { sendUntilItFits } from './recover.ts';
import { createUsageReader } from './reported-usage.ts';
import { isRead, type Route } from './routes.ts';

/** A request as it came. */
export interface ExchangeRequest {
  readonly route: Route;
  /** Path and query. */
  readonly target: string;
  readonly headers: RawHeaders;
  /** The JSON text of its body; undefined when it was not read, or cannot be. */
  readonly text: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/** Where requests go. */
export interface Upstream<Given extends Answer> {
  readonly name: string;
  send(outgoing: Outgoing): Promise<Given>;
  /**
   * An answer of our own in the shape of one from there. Where it is given, requests for a compaction are answered with a
   * memory of ours and go nowhere.
   */
  own?: ((answer: OwnAnswer) => Given) | undefined;
}

/** What all exchanges of a proxy have in common. */
export interface ExchangeOptions {
  readonly folder: Folder;
  readonly tenants: TenantOptions;
  readonly observer?: ProxyObserver | undefined;
  /** What people have asked for conversations of a tenant. Never fails. */
  readonly wishesOf?: ((tenant: string) => Promise<readonly ConversationWishes[]>) | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Makes chunks of a compressed answer readable; undefined for encodings it does not know. */
  readonly decode?:
    | ((encoding: string, take: (chunk: Uint8Array) => void) => ChunkSink | undefined)
    | undefined;
}

/** What to pass on to the client. */
export interface Exchanged<Given extends Answer> {
  readonly answer: Given;
  /** Headers of ours. */
  readonly added: RawHeaders;
  /** To be told of the answer's body while it passes, and of its end: the account of the exchange is written then. */
  readonly watch: ChunkSink;
}

/** Carries a request to upstream and back: folds it, and sends it again with less in it where upstream says it is too long. */
export async function exchange<Given extends Answer>(
  request: ExchangeRequest,
  upstream: Upstream<Given>,
  options: ExchangeOptions,
): Promise<Exchanged<Given>> {
  const { now, observer, folder } = options;
  const startedAt = now();
  const tenant = tenantOf(request, options.tenants);
  const record = { startedAt, request, tenant, now, observer };
  const own = upstream.own === undefined ? undefined : await ownAnswer(request, now);
  if (own !== undefined && upstream.own !== undefined)
    return answerHere(upstream.own(own), { begun: record, options });
  const unpacked = unpackedBody(request);
  const isKept = tenant !== undefined && isRead(request.route) && request.text !== undefined;
  const wishes = isKept ? await options.wishesOf?.(tenant) : undefined;
  const asked = foldRequest({ ...request, text: unpacked ?? request.text }, upstream.name, {
    tenant,
    wishes,
  });
  const begun = asked === undefined ? unread(request.route) : await folder.fold(asked, request.signal);
  const prepareMs = now() - startedAt;
  const deadline = startedAt + patienceOf(request.headers);
  try {
    const { answer, folded, recoveries } = await sendUntilItFits({
      asked,
      folded: begun,
      send: (each) => upstream.send(outgoing(request, each.body ?? unpacked)),
      fold: (each) => folder.fold(each, request.signal),
      mayGoOn: () => now() < deadline,
    });
    const turn = folded.turn;
    const watch = watchAnswer(answer, request.route, options, (usage, firstByteAt) => {
      if (turn !== undefined && usage !== undefined && answer.status < 300) folder.report(turn, usage);
      tell(record, folded, { prepareMs, recoveries, usage, firstByteAt, answer });
    });
    return { answer, added: asked === undefined ? [] : ourHeaders(folded, recoveries), watch };
  } catch (error) {
    tell(record, begun, { prepareMs, recoveries: 0 });
    throw error;
  }
}

function foldRequest(
  { route, text, headers }: ExchangeRequest,
  upstream: string,
  {
    tenant,
    wishes = [],
  }: { readonly tenant: string | undefined; readonly wishes?: FoldRequest['wishes'] | undefined },
): FoldRequest | undefined {
  if (!isRead(route) || text === undefined) return undefined;
  return {
    route,
    body: text,
    tenant,
    upstream,
    betas: headerOf(headers, 'anthropic-beta'),
    isBypassed: (headerOf(headers, BYPASS_HEADER) ?? '') !== '',
    wishes,
    refusals: [],
  };
}

function unread(route: Route): Folded {
  return passed(isRead(route) ? 'unreadable' : 'not-a-conversation');
}

/** A memory of ours where a request asks for a compaction that we answer. */
async function ownAnswer(
  { route, text, headers, signal }: ExchangeRequest,
  now: () => number,
): Promise<OwnAnswer | undefined> {
  const isBypassed = (headerOf(headers, BYPASS_HEADER) ?? '') !== '';
  return isBypassed || text === undefined ? undefined : answerCompaction({ route, text, signal, now });
}

/** An exchange that went nowhere. */
function answerHere<Given extends Answer>(
  answer: Given,
  { begun, options }: { readonly begun: Begun; readonly options: ExchangeOptions },
): Exchanged<Given> {
  const folded = { ...passed('compaction-answered'), tokensSent: 0 };
  const prepareMs = begun.now() - begun.startedAt;
  const watch = watchAnswer(answer, begun.request.route, options, (_usage, firstByteAt) =>
    tell(begun, folded, { prepareMs, recoveries: 0, firstByteAt, answer }),
  );
  return { answer, added: ourHeaders(folded, 0), watch };
}

/** The body with our compaction items as messages; undefined when it has none. */
function unpackedBody({ route, text }: ExchangeRequest): Uint8Array | undefined {
  return text === undefined || route.format !== 'openai-responses' ? undefined : withMemoriesInBody(text);
}

function outgoing({ headers }: ExchangeRequest, body: Uint8Array | undefined): Outgoing {
  const forwarded = forwardedHeaders(headers);
  return { headers: body === undefined ? forwarded : rewrittenHeaders(forwarded, body.length), body };
}

const PATIENCE_MS = 600_000;

/** How long a client waits, as far as it says so: half of that is for tries. */
function patienceOf(headers: RawHeaders): number {
  const seconds = Number(headerOf(headers, 'x-stainless-timeout') ?? Number.NaN);
  return (Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : PATIENCE_MS) / 2;
}

/** What the client is told of what was done with its request. Says nothing that was not sent. */
function ourHeaders(folded: Folded, recoveries: number): RawHeaders {
  const { status, reason, tokensReceived, tokensSent, checkpoint, isStored } = folded;
  const told: readonly (readonly [string, string | number | undefined])[] = [
    ['x-roundfold-status', status],
    ['x-roundfold-reason', reason],
    ['x-roundfold-tokens-received', tokensReceived],
    ['x-roundfold-tokens-sent', tokensSent],
    // Whoever writes it down must find it again.
    ['x-roundfold-checkpoint', isStored ? checkpoint : undefined],
    ['x-roundfold-recoveries', recoveries === 0 ? undefined : recoveries],
  ];
  return told.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
}

function watchAnswer(
  answer: Answer,
  route: Route,
  { now, decode }: ExchangeOptions,
  done: (usage: ReportedUsage | undefined, firstByteAt: number | undefined) => void,
): ChunkSink {
  const reader = createUsageReader(route.kind === 'generate' ? route.format : undefined, isStreamed(answer));
  const encoding = headerOf(answer.headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  const sink: ChunkSink | undefined =
    encoding === 'identity' || encoding === ''
      ? { push: (chunk) => reader.push(chunk), end() {} }
      : decode?.(encoding, (chunk) => reader.push(chunk));
  let firstByteAt: number | undefined;
  let isOver = false;
  return {
    push(chunk) {
      firstByteAt ??= now();
      sink?.push(chunk);
    },
    async end() {
      if (isOver) return;
      isOver = true;
      await sink?.end();
      done(reader.end(), firstByteAt);
    },
  };
}

function isStreamed({ headers }: Answer): boolean {
  return headerOf(headers, 'content-type')?.toLowerCase().includes('text/event-stream') === true;
}

interface Begun {
  readonly startedAt: number;
  readonly request: ExchangeRequest;
  readonly tenant: string | undefined;
  readonly now: () => number;
  readonly observer: ProxyObserver | undefined;
}

interface Ended {
  readonly prepareMs: number;
  readonly recoveries: number;
  readonly usage?: ReportedUsage | undefined;
  readonly firstByteAt?: number | undefined;
  readonly answer?: Answer | undefined;
}

/** Writes the account of an exchange. */
function tell({ startedAt, request, tenant, now, observer }: Begun, folded: Folded, ended: Ended): void {
  if (observer?.exchange === undefined) return;
  const { kind, format } = request.route;
  const { prepareMs, recoveries, usage, answer, firstByteAt } = ended;
  const { status, reason, conversation, names, model, messages, tokensReceived, tokensSent } = folded;
  const { tokensByKind, windowTokens, triggerTokens, checkpoint } = folded;
  const record: ExchangeRecord = {
    ...{ startedAt, kind, format, tenant, conversation, names, model, status, reason, messages },
    ...{ tokensReceived, tokensSent, tokensByKind, windowTokens, triggerTokens, checkpoint },
    ...{ recoveries, usage, prepareMs },
    client: clientOf(request.headers),
    httpStatus: answer?.status,
    streamed: answer === undefined ? folded.streams : isStreamed(answer),
    firstByteMs: firstByteAt === undefined ? undefined : firstByteAt - startedAt,
    totalMs: now() - startedAt,
  };
  observer.exchange(record);
}
