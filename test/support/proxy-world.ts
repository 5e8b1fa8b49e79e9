import { AsyncLocalStorage } from 'node:async_hooks';
import { sha256 } from '../../src/conversation/sha256.ts';
import type { Outgoing } from '../../src/proxy/answer.ts';
import { tenantOf } from '../../src/proxy/caller.ts';
import { type Exchanged, exchange } from '../../src/proxy/exchange.ts';
import { createFolder } from '../../src/proxy/fold.ts';
import type { Folded, Folder } from '../../src/proxy/folder.ts';
import { findRoute } from '../../src/proxy/routes.ts';
import type { Store } from '../../src/stores/store.ts';
import { grownItems, type Item, type Noise, plainNoise, renderItems } from './keeper-items.ts';
import { type MapStore, mapStore } from './map-store.ts';
import {
  type Exchange,
  judgeAnswer,
  judgeCall,
  judgeNothingOpen,
  MOST_CALLS,
  type RequestKind,
} from './proxy-judge.ts';
import { answerTo, type UpstreamPlan, type WorldAnswer } from './proxy-upstream.ts';
import { SummaryOracle, type SummaryPlan, type WorldStrategy } from './summary-oracle.ts';
import { type Mortal, VirtualTime } from './virtual-time.ts';

/** What was seen in all worlds. A step is an act of a client, a fault, or a call of the store, of upstream or of a model. */
export interface ProxyCounts {
  steps: number;
  requests: number;
  answered: number;
  folded: number;
  reduced: number;
  recovered: number;
  refused: number;
  saved: number;
  crashes: number;
  storeFaults: number;
}

/** What is fixed for a world. */
export interface ProxyTerms {
  readonly strategy: WorldStrategy;
  readonly instances: number;
}

/** How the next operations of the store come out. */
export interface StorePlan {
  /** `lost`: it is done, and said to have failed. */
  readonly kind: 'refused' | 'lost' | 'slow';
  readonly operations: number;
}

export interface ProxyClient {
  /** Undefined for a client that says nothing of who it is. */
  readonly credential: string | undefined;
  items: readonly Item[];
  /** What it sent before, so that it can send it again late. */
  sent: (readonly Item[])[];
}

/** A proxy of its own process. */
interface Instance extends Mortal {
  isDead: boolean;
  /** How wrong its clock is, in milliseconds. */
  skew: number;
  readonly folder: Folder;
  readonly died: Promise<never>;
  die(): void;
}

interface Flight {
  readonly instance: Instance;
  readonly left: AbortController;
  readonly done: Promise<unknown>;
}

/** For whom something is done, and by whom. */
interface AtWork {
  readonly instance: Instance;
  readonly exchange: Exchange;
  /** Whether upstream has refused it before. */
  readonly wasRefused?: boolean;
}

export interface SendOptions {
  readonly kind?: RequestKind;
  readonly noise?: Noise | undefined;
  readonly instance?: number;
}

const MODEL = 'claude-sonnet-4-6';
const TOOLS = '[{"name":"read_file","input_schema":{"type":"object"}}]';
const TOLD_WINDOW = 3000;
/** About what the estimator makes of these texts. */
const BYTES_PER_TOKEN = 4.6;
/** What providers put in front of a request that has tools. */
const TOOLS_TOKENS = 500;
/** How much more than that a conversation has in the count of upstream. */
const WEIGHTS = [0.9, 1, 1.1, 1.5];
const CLIENT_PATIENCE_MS = 600_000;
const SLOW_MS = 9000;
const MOST_REMEMBERED = 4;
const MOST_FLIGHTS = 6;
const MOST_ROUNDS_TO_REST = 4000;
const MOST_TURNS_TO_REST = 16;
/** So often a client sends the same before it goes on. */
const TURNS_ALIKE = 10;
/** Where nothing was refused, a request this much smaller than the window has no reason to be cut. */
const FITS_EASILY = 0.6;
/** A compaction is made from 0.84 of the window on, by whoever's count. */
const NOT_YET_DUE = 0.65;
const finePlan: UpstreamPlan = { kind: 'fine', milliseconds: 0, streams: false, wording: 'numbered' };
/** A promise that nobody keeps. A new one each time: one for all would hold everybody who ever waited for it. */
function never(): Promise<never> {
  return new Promise(() => {});
}

/** Clients, instances of a proxy over one store, and an upstream that judges what it gets. */
export class ProxyWorld {
  readonly clients: ProxyClient[] = [];
  readonly counts: ProxyCounts;
  readonly time = new VirtualTime();
  readonly store: MapStore;
  summaryPlan: SummaryPlan = { kind: 'fine', turnsLate: 0 };
  upstreamPlan: UpstreamPlan = finePlan;
  /** Calls from now on that the plan is for. */
  upstreamCalls = 0;
  storePlan: StorePlan = { kind: 'refused', operations: 0 };
  storeGoneUntil = 0;
  /** Whoever makes this call from now on crashes while it is under way; none below 0. */
  crashAt = -1;
  readonly #terms: ProxyTerms;
  readonly #oracle: SummaryOracle;
  readonly #atWork = new AsyncLocalStorage<AtWork>();
  readonly #flights = new Set<Flight>();
  /** What was sent for a body with a checkpoint. */
  readonly #views = new Map<string, string>();
  #instances: Instance[] = [];
  /** Share of the window that the proxy was told which is really there, and the smallest there ever was. */
  #trueWindow = 1;
  #smallestWindow = 1;
  #nextNonce = 1;
  /** Events since the last request at rest. */
  #told: string[] = [];
  #fault: unknown;

  constructor(counts: ProxyCounts, terms: ProxyTerms) {
    this.counts = counts;
    this.#terms = terms;
    this.#oracle = new SummaryOracle(terms.strategy);
    this.store = mapStore({ now: () => this.time.now });
    for (let index = 0; index < terms.instances; index++) this.#instances.push(this.#startInstance());
    for (const credential of ['alpha', 'alpha', 'beta', undefined])
      this.clients.push({ credential, items: [], sent: [] });
  }

  nonce(): number {
    return this.#nextNonce++;
  }

  /** Sends what a client has now, and does not wait for the answer. */
  send(client: ProxyClient, options: SendOptions = {}): void {
    if (client.items.length === 0) return;
    client.sent = [client.items, ...client.sent].slice(0, MOST_REMEMBERED);
    void this.sendItems(client, client.items, options);
  }

  /** Sends a list of a client, which need not be its newest. */
  sendItems(client: ProxyClient, items: readonly Item[], options: SendOptions = {}): Promise<Exchange> {
    this.counts.requests++;
    const instance = this.#instances[(options.instance ?? 0) % this.#instances.length];
    if (instance === undefined) throw new Error('there is always an instance');
    const asked = describeRequest(client, items, options);
    const left = new AbortController();
    const done = this.#atWork
      .run({ instance, exchange: asked }, () => this.#carry(asked, left.signal))
      .catch((error: unknown) => {
        this.#fault ??= error;
      });
    const flight = { instance, left, done };
    const giveUp = this.time.schedule(() => left.abort(new Error('no patience')), CLIENT_PATIENCE_MS);
    this.#flights.add(flight);
    void done.finally(() => {
      giveUp();
      this.#flights.delete(flight);
    });
    return done.then(() => asked);
  }

  /** Upstream has another window from now on: this share of the one that the proxy was told. */
  setWindow(share: number): void {
    this.#trueWindow = share;
    this.#smallestWindow = Math.min(this.#smallestWindow, share);
  }

  /** A client hangs up. */
  cancel(index: number): void {
    const flights = [...this.#flights];
    flights[index % Math.max(1, flights.length)]?.left.abort(new Error('the client has left'));
  }

  /** An instance ends in the middle of whatever it does, and another one takes its place. */
  crash(index: number): void {
    const instance = this.#instances[index % this.#instances.length];
    if (instance !== undefined) this.#crash(instance);
  }

  /** The clock of an instance is set to another time. */
  jump(index: number, milliseconds: number): void {
    const instance = this.#instances[index % this.#instances.length];
    if (instance !== undefined) instance.skew += milliseconds;
  }

  /** Time passes. @throws what was found to be wrong */
  async pass(turns: number, milliseconds: number): Promise<void> {
    this.counts.steps++;
    await this.time.pass(turns, milliseconds);
    while (this.#flights.size > MOST_FLIGHTS && this.#fault === undefined) await this.time.pass(5, 20_000);
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Nothing goes wrong any more: everything under way ends, and every conversation fits its window. */
  async end(): Promise<void> {
    this.upstreamCalls = 0;
    this.storePlan = { kind: 'refused', operations: 0 };
    this.storeGoneUntil = 0;
    this.crashAt = -1;
    this.summaryPlan = { kind: 'fine', turnsLate: 0 };
    await this.#rest();
    for (const client of this.clients.filter(({ items }) => items.length > 0)) await this.#comeToRest(client);
  }

  async #rest(): Promise<void> {
    let isSettled = false;
    const settle = async () => {
      while (this.#flights.size > 0) await Promise.all([...this.#flights].map(({ done }) => done));
      await Promise.all(this.#instances.map(({ folder }) => folder.settle()));
      isSettled = true;
    };
    void settle();
    // Nobody waits for a request that its client has given up, but what it waits for ends too.
    for (let round = 0; !isSettled || this.time.pending > 0; round++) {
      if (round > MOST_ROUNDS_TO_REST)
        throw new Error(isSettled ? `${this.time.pending} timers run on` : 'what was under way does not end');
      await this.time.pass(4, 2000);
    }
    if (this.#fault !== undefined) throw this.#fault;
  }

  async #comeToRest(client: ProxyClient): Promise<void> {
    for (let turn = 0; ; turn++) {
      this.#told = [];
      // A window that became smaller may have no room for a memory and the newest turn, and nothing in them is old. As soon as
      // the client goes on, there is something to summarise.
      if (turn > TURNS_ALIKE) client.items = grownItems(client.items, 0, () => this.nonce());
      const sent = this.sendItems(client, client.items);
      // Leases of those who crashed run out.
      await this.time.pass(4, 10_000);
      await this.#rest();
      const { folds, answers } = await sent;
      const isServed = answers.at(-1)?.status === 200;
      // Only summaries get any conversation below any trigger. The others may have to leave something out for good.
      const isWhole = answers.length === 1 && folds[0]?.status !== 'reduced';
      const isFine = isServed && (isWhole || this.#terms.strategy !== 'summarize');
      // Who has no tenant is on its own.
      if (isFine || client.credential === undefined) return;
      if (turn === MOST_TURNS_TO_REST)
        throw new Error(
          `no rest: ${folds.map(({ status }) => status)}, ${answers.map((each) => each?.status)}, ${this.#told}`,
        );
    }
  }

  #startInstance(): Instance {
    const death = Promise.withResolvers<never>();
    // Nobody may be waiting.
    death.promise.catch(() => {});
    const tenantAtWork = () => this.#atWork.getStore()?.exchange.tenant ?? 'nobody';
    const folder = createFolder({
      store: this.#storeFor(() => instance),
      windowTokens: TOLD_WINDOW,
      hash: sha256,
      now: () => this.time.now + instance.skew,
      schedule: (task, milliseconds) => this.time.schedule(task, milliseconds, instance),
      strategy: this.#oracle.strategyFor(tenantAtWork),
      summarizer: this.#oracle.summarizerFor(tenantAtWork, {
        plan: () => this.summaryPlan,
        later: (turns, signal) => this.#cross(instance, () => this.#late(instance, turns, signal)),
      }),
      onEvent: (event) => {
        this.#told.push(event.type);
        if (event.type === 'compaction-start') this.#judgeStart();
        if (event.type === 'prepare-failed') this.#fault ??= event.error;
        if (event.type === 'checkpoint-saved') this.counts.saved++;
        if (event.type === 'store-failed') {
          const work = this.#atWork.getStore();
          if (work !== undefined) work.exchange.isStoreTroubled = true;
        }
      },
    });
    const instance: Instance = {
      isDead: false,
      skew: 0,
      folder,
      died: death.promise,
      die() {
        instance.isDead = true;
        death.reject(new Error('the connection was reset'));
      },
    };
    return instance;
  }

  #crash(instance: Instance): void {
    if (instance.isDead) return;
    this.counts.crashes++;
    instance.die();
    this.#instances = this.#instances.map((each) => (each === instance ? this.#startInstance() : each));
  }

  /** Something that an instance asks of others. It may be dead before it is done, and before it hears of it. */
  async #cross<Value>(instance: Instance, effect: () => Promise<Value>): Promise<Value> {
    this.counts.steps++;
    if (this.crashAt-- === 0) this.#crash(instance);
    if (instance.isDead) return never();
    const value = await effect();
    return instance.isDead ? never() : value;
  }

  async #late(instance: Instance, turns: number, signal: AbortSignal | undefined): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    await Promise.race([this.time.wait(turns * 4000, instance), aborted]);
  }

  #storeFor(instanceOf: () => Instance): Store {
    const ask = <Value>(effect: () => Promise<Value>) => this.#askStore(instanceOf(), effect);
    const { store } = this;
    return {
      ...store,
      find: (lookup) => ask(() => store.find(lookup)),
      commit: (record) => ask(() => store.commit(record)),
      acquire: (request) => ask(() => store.acquire(request)),
      renew: (lease, milliseconds) => ask(() => store.renew(lease, milliseconds)),
      release: (lease) => ask(() => store.release(lease)),
    };
  }

  #askStore<Value>(instance: Instance, effect: () => Promise<Value>): Promise<Value> {
    const work = this.#atWork.getStore();
    if (work === undefined || work.exchange.tenant === undefined)
      this.#fault ??= new Error('the store was asked for a request without a tenant');
    return this.#cross(instance, () => this.#operate(instance, this.#nextStoreFate(), effect));
  }

  #nextStoreFate(): StorePlan['kind'] | 'fine' {
    const { kind, operations } = this.storePlan;
    const isGone = this.storeGoneUntil > this.time.now;
    if (operations > 0) this.storePlan = { kind, operations: operations - 1 };
    if (operations > 0 || isGone) this.counts.storeFaults++;
    if (isGone) return 'refused';
    return operations > 0 ? kind : 'fine';
  }

  async #operate<Value>(
    instance: Instance,
    fate: StorePlan['kind'] | 'fine',
    effect: () => Promise<Value>,
  ): Promise<Value> {
    if (fate === 'refused') throw new Error('the store cannot be reached');
    if (fate === 'slow') await this.time.wait(SLOW_MS, instance);
    if (instance.isDead) return never();
    const value = await effect();
    if (fate === 'slow') await this.time.wait(SLOW_MS, instance);
    if (fate === 'lost') throw new Error('the store did not answer in time');
    return value;
  }

  /** A whole request, as the server of a proxy carries it. */
  async #carry(asked: Exchange, signal: AbortSignal): Promise<void> {
    const work = this.#atWork.getStore();
    if (work === undefined) return;
    const { instance } = work;
    const hungUp = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the client has left')));
    });
    const carried = this.#exchange(asked, instance, signal);
    carried.catch(() => {});
    hungUp.catch(() => {});
    let exchanged: Exchanged<WorldAnswer>;
    try {
      exchanged = await Promise.race([carried, instance.died, hungUp]);
    } catch {
      if (!instance.isDead && !signal.aborted) judgeNothingOpen(asked, undefined);
      return;
    }
    const stored = [...this.store.records.values()].map(({ chain }) => chain);
    judgeAnswer(asked, exchanged.answer, { added: exchanged.added, stored });
    this.#count(asked, exchanged.answer);
    for (const chunk of exchanged.answer.chunks) {
      if (instance.isDead) return;
      if (signal.aborted) break;
      exchanged.watch.push(chunk);
      await this.time.wait(10);
    }
    if (!instance.isDead) await exchanged.watch.end();
  }

  #exchange(asked: Exchange, instance: Instance, signal: AbortSignal): Promise<Exchanged<WorldAnswer>> {
    const { folder } = instance;
    const path =
      asked.kind === 'count' || asked.kind === 'fragment' ? '/v1/messages/count_tokens' : '/v1/messages';
    const request = {
      route: findRoute('POST', path),
      target: path,
      headers: headersFor(asked),
      text: new TextEncoder().encode(asked.body),
      signal,
    };
    const watched: Folder = {
      fold: async (...given) => {
        const work = { instance, exchange: asked, wasRefused: given[0].refusals.length > 0 };
        const folded = await this.#atWork.run(work, () => folder.fold(...given));
        asked.folds.push(folded);
        return folded;
      },
      report: (...given) => folder.report(...given),
      settle: () => folder.settle(),
      close: () => folder.close(),
    };
    return exchange(
      request,
      {
        name: 'upstream',
        send: (outgoing) => this.#cross(instance, () => this.#answer(asked, outgoing, signal)),
      },
      { folder: watched, tenants: { allowsAnonymous: false }, now: () => this.time.now + instance.skew },
    );
  }

  async #answer(asked: Exchange, outgoing: Outgoing, signal: AbortSignal): Promise<WorldAnswer> {
    const { body: bytes, headers } = outgoing;
    const rewritten = bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    const folded = asked.folds.at(-1);
    if (folded === undefined) throw new Error('nobody has looked at the request');
    try {
      const findSummary = (id: string) => this.#oracle.find(id);
      judgeCall({ exchange: asked, folded, headers, rewritten, findSummary });
      this.#judgeView(asked, folded, rewritten);
      if (asked.answers.length === MOST_CALLS) throw new Error(`more than ${MOST_CALLS} calls`);
    } catch (error) {
      this.#fault ??= error;
    }
    const place = asked.answers.push(undefined) - 1;
    const plan =
      this.upstreamCalls > 0 ? this.upstreamPlan : { ...finePlan, streams: asked.items.length % 2 === 0 };
    if (this.upstreamCalls > 0) this.upstreamCalls--;
    const left = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the client has left')));
    });
    left.catch(() => {});
    if (signal.aborted) throw new Error('the client has left');
    await Promise.race([this.time.wait(plan.milliseconds), left]);
    if (plan.kind === 'no-connection') throw new Error('no connection');
    const counted = {
      tokens: this.#tokensOf(asked, rewritten ?? asked.body),
      windowTokens: this.#windowTokens,
    };
    const answer = answerTo(plan, counted) ?? (await left);
    asked.answers[place] = answer;
    return answer;
  }

  get #windowTokens(): number {
    return Math.floor(TOLD_WINDOW * this.#trueWindow);
  }

  /** Conversations differ in how many tokens their texts have. */
  #tokensOf({ items }: Exchange, body: string): number {
    const weight = WEIGHTS[(items[0]?.nonce ?? 0) % WEIGHTS.length] ?? 1;
    return Math.ceil((TOOLS_TOKENS + body.length / BYTES_PER_TOKEN) * weight);
  }

  /** Work in the background is begun for conversations that need it. */
  #judgeStart(): void {
    const work = this.#atWork.getStore();
    if (work === undefined || work.wasRefused === true) return;
    const tokens = this.#tokensOf(work.exchange, work.exchange.body);
    if (tokens < TOLD_WINDOW * this.#smallestWindow * NOT_YET_DUE)
      this.#fault ??= new Error(`a conversation of ${tokens} tokens was compacted`);
  }

  #judgeView(asked: Exchange, { status, checkpoint, isStored }: Folded, rewritten: string | undefined): void {
    if (rewritten === undefined) return;
    const isFirst = asked.answers.length === 0;
    if (
      status === 'reduced' &&
      isFirst &&
      this.#tokensOf(asked, asked.body) < TOLD_WINDOW * this.#smallestWindow * FITS_EASILY
    )
      throw new Error('a request that fits was cut');
    if (status !== 'folded' || asked.isStoreTroubled) return;
    if (checkpoint === undefined) throw new Error('folded without a checkpoint');
    // One that the store has not taken is not named: another instance may be the first to store one of the same messages.
    if (!isStored) return;
    const key = `${asked.tenant}\n${checkpoint}\n${asked.body}`;
    const before = this.#views.get(key);
    if (before !== undefined && before !== rewritten) throw new Error('one checkpoint has two views');
    this.#views.set(key, rewritten);
  }

  #count({ answers, folds }: Exchange, answer: WorldAnswer): void {
    const status = folds[answers.indexOf(answer)]?.status;
    this.counts.answered++;
    if (status === 'folded') this.counts.folded++;
    if (status === 'reduced') this.counts.reduced++;
    if (answers.indexOf(answer) > 0) this.counts.recovered++;
    if (answer.status === 400 || answer.status === 413) this.counts.refused++;
  }
}

const COMPACTION = 'Your task is to create a detailed summary of the conversation so far, for yourself.';

function describeRequest(
  { credential }: ProxyClient,
  items: readonly Item[],
  { kind = 'turn', noise = plainNoise }: SendOptions,
): Exchange {
  const raws = kind === 'fragment' ? renderItems(items.slice(-1), noise) : renderItems(items, noise);
  const added = kind === 'compaction' ? [{ role: 'user', content: COMPACTION }] : [];
  const messages = [...raws, ...added].map((raw) => JSON.stringify(raw));
  const isCount = kind === 'count' || kind === 'fragment';
  const bodyEnd = isCount ? '}' : ',"max_tokens":400 }';
  const body = `{ "model":"${MODEL}", "tools":${TOOLS}, "messages":[${messages.join()}]${bodyEnd}`;
  const headers = credential === undefined ? [] : ['x-api-key', credential];
  return {
    kind,
    tenant: tenantOf({ headers, target: '/' }, { allowsAnonymous: false }),
    credential,
    items,
    messages,
    body: kind === 'unreadable' ? body.slice(0, -2) : body,
    bodyEnd,
    folds: [],
    answers: [],
    isStoreTroubled: false,
  };
}

function headersFor({ kind, credential, body }: Exchange): readonly string[] {
  return [
    ...['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))],
    ...(credential === undefined ? [] : ['x-api-key', credential]),
    ...(kind === 'bypassed' ? ['x-roundfold-bypass', '1'] : []),
  ];
}
