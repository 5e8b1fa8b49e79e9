import { RoundfoldError } from '../conversation/errors.ts';
import type { Conversation } from '../conversation/format.ts';
import type { JsonObject } from '../conversation/json.ts';
import { readConversation } from '../formats/registry.ts';
import { createKeeper, type Keeper, type Prepared } from '../keeper/keeper.ts';
import type { KeeperOptions } from '../keeper/options.ts';
import { Recent } from '../keeper/recent.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import { requestTokens, tokensByClass } from '../tokens/measure.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import { rewriteBody } from './body/body-bytes.ts';
import { type BodyMemory, createBodyMemory } from './body/body-memory.ts';
import type { ParsedBody } from './body/parsed-body.ts';
import type { Folded, Folder, FoldRequest, Refusal } from './folder.ts';
import type { FoldEvent, ProxyPassReason } from './record.ts';
import { lessAfterRefusals, outputLimit } from './reduce.ts';
import { createTurns, type Turns } from './turns.ts';
import {
  asksForLongWindow,
  createWindows,
  foldShareOf,
  READY_AT,
  type WindowOptions,
  type WindowQuery,
  type Windows,
} from './windows.ts';

export interface FolderOptions
  extends WindowOptions,
    Pick<
      KeeperOptions,
      'store' | 'target' | 'strategy' | 'summarizer' | 'archive' | 'hash' | 'now' | 'schedule'
    > {
  /** `observe` counts and tells, and changes nothing. Default `fold`. */
  readonly mode?: 'fold' | 'observe' | undefined;
  /**
   * Share of the window at which requests are folded. Default 0.8, below where clients would compact by themselves; 0.88 in
   * windows below 64,000 tokens, which have no room to give away.
   */
  readonly trigger?: number | undefined;
  /** Windows that are shared with other folders. Default: its own. */
  readonly knownWindows?: Windows | undefined;
  readonly onEvent?: ((event: FoldEvent) => void) | undefined;
  readonly onWindowLearnt?: ((model: string, windowTokens: number) => void) | undefined;
}

const REMEMBERED_MODELS = 20;

/** A folder in this thread. */
export function createFolder(options: FolderOptions): Folder {
  return new KeeperFolder(options);
}

/** A request that was understood. */
interface Read {
  readonly request: FoldRequest;
  readonly body: ParsedBody;
  readonly value: JsonObject;
  readonly conversation: Conversation;
  readonly model: string | undefined;
  readonly estimator: TokenEstimator;
  readonly window: WindowQuery;
}

/** Where each wire format has its messages. */
const LIST_KEYS: ReadonlyMap<string, string> = new Map([
  ['anthropic-messages', 'messages'],
  ['openai-chat', 'messages'],
  ['openai-responses', 'input'],
  ['gemini', 'contents'],
]);
/** A wait that is over before it begins. */
const noWait = AbortSignal.abort();

class KeeperFolder implements Folder {
  readonly #options: FolderOptions;
  readonly #windows: Windows;
  readonly #turns: Turns = createTurns();
  readonly #bodies: BodyMemory = createBodyMemory();
  readonly #keepers = new Map<string, Keeper>();
  readonly #estimators = new Recent<string, TokenEstimator>(REMEMBERED_MODELS);

  constructor(options: FolderOptions) {
    this.#options = options;
    this.#windows = options.knownWindows ?? createWindows(options);
  }

  async fold(request: FoldRequest, signal?: AbortSignal): Promise<Folded> {
    const body = this.#bodies.parse(request.body, LIST_KEYS.get(request.route.format) ?? '');
    if (body === undefined) return passed('unreadable');
    try {
      return await this.#fold(this.#read(request, body), signal);
    } catch (error) {
      if (RoundfoldError.is(error) && error.code === 'input-not-understood')
        return passed('not-a-conversation');
      // Nested too deeply for the stack, for instance. What we cannot do must not fail a request.
      this.#options.onEvent?.({ type: 'prepare-failed', error });
      return passed('failed');
    }
  }

  report(...[turn, usage]: Parameters<Folder['report']>): void {
    this.#turns.report(turn, usage);
  }

  async settle(): Promise<void> {
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.settle()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.close()));
  }

  #read(request: FoldRequest, body: ParsedBody): Read {
    const { value } = body;
    const { route, upstream } = request;
    const conversation = readConversation<JsonObject>(value, route.format);
    const model = route.model ?? conversation.frame.model;
    const estimator = this.#estimators.take(model ?? '', () =>
      createTokenEstimator({ profile: tokenProfileForModel(model) }),
    );
    const window = {
      upstream,
      model: model ?? '',
      isLong: asksForLongWindow(request.betas, model),
      outputTokens: outputLimit(value)?.tokens,
    };
    return { request, body, value, conversation, model, estimator, window };
  }

  async #fold(read: Read, signal: AbortSignal | undefined): Promise<Folded> {
    const { request, conversation, value } = read;
    for (const refusal of request.refusals) this.#learn(read, refusal);
    const windowTokens = this.#windows.promptWindow(read.window);
    const account = this.#account(read, windowTokens);
    if (request.isBypassed) return { ...account, status: 'passed', reason: 'bypassed' };
    if (this.#options.mode === 'observe') return { ...account, status: 'passed', reason: 'observing' };

    const { tenant, route } = request;
    const isCount = route.kind === 'count';
    const prepared = await this.#keeperFor(route.format, this.#foldAt(read)).prepare(value, {
      tenant,
      model: read.model,
      wishesFor: (name) => request.wishes.find((each) => each.conversation === name),
      usage: tenant === undefined ? undefined : this.#turns.usageFor(tenant, conversation),
      windowTokens: this.#windowForRetry(request, windowTokens),
      signal: isCount ? noWait : signal,
    });
    // What would be left out of one request for once says nothing about the size of the conversation.
    if (isCount && prepared.status === 'reduced') return { ...account, ...countReason(conversation) };
    if (isCount && prepared.status === 'unchanged') return { ...account, ...countReason(conversation) };
    return this.#finish(read, account, prepared);
  }

  #finish(read: Read, account: Folded, prepared: Prepared<JsonObject>): Folded {
    const { request, value, estimator } = read;
    const checkpoint = prepared.checkpoint?.chain;
    const known = {
      ...account,
      reason: prepared.reason,
      checkpoint,
      isStored: prepared.isStored === true,
      conversation: prepared.checkpoint?.conversation ?? account.conversation,
      mayBeReduced:
        request.route.kind === 'generate' &&
        (prepared.status !== 'passed' || prepared.reason === 'unknown-model'),
    };
    const reduction = known.mayBeReduced
      ? lessAfterRefusals(prepared.value, {
          ...request,
          estimator,
          model: read.model,
          windowTokens: account.windowTokens,
        })
      : undefined;
    const { value: sent, isReduced } = reduction ?? { value: prepared.value, isReduced: false };
    if (sent === value) return { ...known, status: prepared.status };
    const body = rewriteBody(read.body, sent);
    const tokensSent = Math.round(requestTokens(readConversation(sent, request.route.format), estimator));
    // "Folded" is said of what became smaller, and of nothing else. A lower limit of the answer may be as long to write.
    if (!isReduced && tokensSent >= (account.tokensReceived ?? 0) && body.length >= request.body.length)
      return { ...known, status: 'unchanged', checkpoint: undefined };
    const status = isReduced ? 'reduced' : prepared.status;
    // What is reported for less than the conversation says nothing about the size of the next request.
    return { ...known, status, body, tokensSent, turn: status === 'reduced' ? undefined : known.turn };
  }

  /** What there is to tell of a request before anything is done with it. */
  #account(read: Read, windowTokens: number | undefined): Folded {
    const { request, value, conversation, model, estimator } = read;
    const tokensReceived = Math.round(requestTokens(conversation, estimator));
    const { tenant = '' } = request;
    const turn = this.#turns.nameOf(tenant, conversation);
    return {
      ...NOTHING_KNOWN,
      model,
      conversation: turn.conversation,
      names: this.#turns.namesOf(conversation),
      messages: conversation.messages.length,
      tokensReceived,
      tokensSent: tokensReceived,
      tokensByKind: tokensByClass(conversation, estimator),
      windowTokens,
      triggerTokens: windowTokens === undefined ? undefined : Math.floor(windowTokens * this.#foldAt(read)),
      streams: value['stream'] === true,
      turn: request.tenant === undefined || request.route.kind !== 'generate' ? undefined : turn,
    };
  }

  /** Share of the window. */
  #foldAt({ window }: Read): number {
    return this.#options.trigger ?? foldShareOf(this.#windows.promptWindow(window) ?? 0);
  }

  #keeperFor(format: string, foldAt: number): Keeper {
    const name = `${format} ${foldAt}`;
    const known = this.#keepers.get(name);
    if (known !== undefined) return known;
    const { store, target, strategy, summarizer, archive, hash, now, schedule } = this.#options;
    const keeper = createKeeper({
      ...{ store, target, strategy, summarizer, archive, hash, now, schedule, format },
      trigger: foldAt * READY_AT,
      foldAt,
      onEvent: (event) => {
        // The outcome of a compaction holds messages.
        if (event.type !== 'compaction-end') this.#options.onEvent?.(event);
      },
    });
    this.#keepers.set(name, keeper);
    return keeper;
  }

  #learn({ window }: Read, { overflow, tokensSent }: Refusal): void {
    const { kind, limitTokens } = overflow;
    if (!TELLS_WINDOW.has(kind)) return;
    const windowTokens = limitTokens ?? this.#boundBelow(window, tokensSent);
    if (windowTokens === undefined) return;
    const countsOutput = kind === 'output-too-large';
    const isNews = this.#windows.learn(window, { windowTokens, countsOutput });
    if (isNews) this.#options.onWindowLearnt?.(window.model, windowTokens);
  }

  /**
   * What a refusal without numbers tells: the window is smaller than what was sent. Undefined where that is no news, and for
   * prompts so small that something else is more likely to be wrong with them.
   */
  #boundBelow(window: WindowQuery, tokensSent: number): number | undefined {
    const known = this.#windows.promptWindow(window) ?? Number.POSITIVE_INFINITY;
    return tokensSent >= SMALLEST_LEARNT && tokensSent <= known ? tokensSent - 1 : undefined;
  }

  /** After a refusal the window is meant in our own tokens: the provider has counted more than we did. */
  #windowForRetry({ refusals }: FoldRequest, windowTokens: number | undefined): number | undefined {
    const [first] = refusals;
    if (first === undefined || windowTokens === undefined) return windowTokens;
    const { actualTokens } = first.overflow;
    if (actualTokens === undefined || actualTokens <= first.tokensSent) return windowTokens;
    return Math.max(1, Math.floor((windowTokens * first.tokensSent) / actualTokens));
  }
}

const SMALLEST_LEARNT = 4000;
const TELLS_WINDOW: ReadonlySet<string> = new Set(['prompt-too-long', 'output-too-large']);

const NOTHING_KNOWN: Folded = {
  status: 'unchanged',
  reason: undefined,
  body: undefined,
  model: undefined,
  conversation: undefined,
  names: [],
  messages: 0,
  tokensReceived: undefined,
  tokensSent: undefined,
  tokensByKind: undefined,
  windowTokens: undefined,
  triggerTokens: undefined,
  checkpoint: undefined,
  isStored: false,
  streams: false,
  mayBeReduced: false,
  turn: undefined,
};

/** A request that goes on as it came, of which nothing is known. */
export function passed(reason: ProxyPassReason): Folded {
  return { ...NOTHING_KNOWN, status: 'passed', reason };
}

/** Clients count single tools and texts as well, with a message made up for it. */
function countReason({ messages }: Conversation): Pick<Folded, 'status' | 'reason'> {
  const isFragment = messages.every(({ role }) => role !== 'assistant');
  return isFragment ? { status: 'passed', reason: 'fragment' } : { status: 'unchanged', reason: undefined };
}
