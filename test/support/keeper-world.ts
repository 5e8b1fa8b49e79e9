import { findContract } from '../../src/contracts/registry.ts';
import { sha256 } from '../../src/conversation/sha256.ts';
import { createKeeper, type Keeper, type Prepared } from '../../src/keeper/keeper.ts';
import type { Checkpoint } from '../../src/stores/store.ts';
import { type Item, type Noise, plainNoise, renderItems } from './keeper-items.ts';
import { type MapStore, mapStore } from './map-store.ts';
import {
  noncesIn,
  type SummaryNote,
  SummaryOracle,
  type SummaryPlan,
  summaryIdsIn,
  type WorldStrategy,
} from './summary-oracle.ts';

/** A client with a conversation of its own; branches begin as copies of another one's. */
export interface Client {
  readonly tenant: string;
  items: readonly Item[];
  /** What the last request went out with. */
  last: { readonly boundary: number; readonly items: readonly Item[] } | undefined;
}

/** What was seen in all steps of a world. */
export interface WorldCounts {
  steps: number;
  compactions: number;
  folded: number;
  reduced: number;
  noisy: number;
  reused: number;
}

const FORMAT_CONTRACT = 'anthropic-messages';
const PATIENCE = 777;
/** A run lets others have a turn now and then: as often as this at most, where nothing is late. */
const TURNS_OF_A_RUN = 10;
/** A pause after failures, and a few turns more. */
const MOST_TURNS_TO_REST = 14;

/** Clients, their keepers over one store, and an oracle that knows what every summary was made of. */
/** Has every compaction wait until there is hardly any room left. */
const PATIENT = 'beta';

export class KeeperWorld {
  readonly clients: Client[] = [];
  readonly counts: WorldCounts;
  readonly store: MapStore;
  summaryPlan: SummaryPlan = { kind: 'fine', turnsLate: 0 };
  /** Store operations from now on that fail. */
  failures = 0;
  #now = 1_000_000;
  #storeFailed = false;
  #fault: unknown;
  #lastStatus: string | undefined;
  readonly #strategy: WorldStrategy;
  readonly #keepers = new Map<string, Keeper>();
  readonly #oldKeepers: Keeper[] = [];
  readonly #oracle: SummaryOracle;
  /** By which process each prefix was paid for, and what it got. */
  readonly #paid = new Map<string, { readonly id: string; readonly process: number }>();
  readonly #late: { turns: number; finish(): void }[] = [];
  readonly #scheduled = new Set<{ readonly task: () => void; readonly at: number }>();
  readonly #reduced = new Set<string>();
  readonly #seen = new Set<string>();
  #nextNonce = 1;
  #process = 0;

  constructor(counts: WorldCounts, strategy: WorldStrategy) {
    this.counts = counts;
    this.#strategy = strategy;
    this.#oracle = new SummaryOracle(strategy);
    this.store = mapStore({ now: () => this.#now, fails: () => this.#isFailing() });
    for (const tenant of ['alpha', PATIENT]) this.clients.push({ tenant, items: [], last: undefined });
  }

  nonce(): number {
    return this.#nextNonce++;
  }

  /** Another process takes over: all that was remembered is gone. What it was at goes on. */
  restart(): void {
    this.#oldKeepers.push(...this.#keepers.values());
    this.#keepers.clear();
    this.#process++;
  }

  /** Sends a client's conversation and checks everything that must hold. */
  async send(client: Client, noise: Noise | undefined): Promise<void> {
    this.counts.steps++;
    await this.#tick();
    const raws = renderItems(client.items, noise ?? plainNoise);
    this.#storeFailed = false;
    const prepared = await this.#keeperOf(client.tenant).prepare({ max_tokens: 100, messages: raws });
    // Whatever is quick is done before the next turn, whatever is late is not.
    await turnsOf(TURNS_OF_A_RUN);
    if (this.#fault !== undefined) throw this.#fault;
    checkPrepared(this, client, { prepared, raws });
    this.#lastStatus = prepared.status;
    this.#checkReuse(client, prepared, noise);
    const { checkpoint } = prepared;
    // What the store has not taken yet ends with its process.
    // And who cannot ask the store folds before it is time.
    const isEarly = this.#storeFailed && client.tenant === PATIENT;
    const isSafe = checkpoint !== undefined && this.isStored(checkpoint) && !isEarly;
    client.last = { boundary: isSafe ? checkpoint.boundary : 0, items: client.items };
  }

  /** Ends everything that is late. Once nothing goes wrong any more, every conversation fits its window again. */
  async end(): Promise<void> {
    this.failures = 0;
    this.summaryPlan = { kind: 'fine', turnsLate: 0 };
    for (const late of this.#late.splice(0)) late.finish();
    for (const keeper of [...this.#keepers.values(), ...this.#oldKeepers]) await keeper.settle();
    if (this.#strategy !== 'summarize') return;
    for (const client of this.clients.filter(({ items }) => items.length > 0)) {
      let turns = 0;
      do await this.send(client, undefined);
      while (this.#lastStatus === 'reduced' && ++turns < MOST_TURNS_TO_REST);
      if (this.#lastStatus === 'reduced') throw new Error('a conversation did not come to rest');
    }
  }

  summary(id: string): SummaryNote | undefined {
    return this.#oracle.find(id);
  }

  #later(turns: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#late.push({ turns, finish: resolve });
      signal?.addEventListener('abort', () => resolve());
    });
  }

  #keeperOf(tenant: string): Keeper {
    const known = this.#keepers.get(tenant);
    if (known !== undefined) return known;
    const keeper = createKeeper({
      store: this.store,
      hash: sha256,
      tenant,
      format: FORMAT_CONTRACT,
      windowTokens: 3000,
      foldAt: tenant === PATIENT ? 0.8 : undefined,
      strategy: this.#oracle.strategyFor(() => tenant),
      summarizer: this.#oracle.summarizerFor(() => tenant, {
        plan: () => this.summaryPlan,
        later: (turns, signal) => this.#later(turns, signal),
      }),
      now: () => this.#now,
      schedule: (task, milliseconds) => this.#schedule(task, milliseconds),
      patienceMilliseconds: PATIENCE,
      leaseMilliseconds: 30_000,
      onEvent: (event) => {
        if (event.type === 'store-failed') this.#storeFailed = true;
        if (event.type === 'prepare-failed') this.#fault = event.error;
        if (event.type === 'checkpoint-saved') this.counts.compactions++;
      },
    });
    this.#keepers.set(tenant, keeper);
    return keeper;
  }

  #schedule(task: () => void, milliseconds: number): () => void {
    // Nobody is patient here: a summary that is late is late for the request that waits for it.
    if (milliseconds === PATIENCE) {
      let isCalledOff = false;
      void turnsOf(TURNS_OF_A_RUN).then(() => {
        if (!isCalledOff) task();
      });
      return () => {
        isCalledOff = true;
      };
    }
    const entry = { task, at: this.#now + milliseconds };
    this.#scheduled.add(entry);
    return () => this.#scheduled.delete(entry);
  }

  async #tick(): Promise<void> {
    this.#now += 4000;
    for (const entry of [...this.#scheduled]) {
      if (entry.at > this.#now) continue;
      this.#scheduled.delete(entry);
      entry.task();
    }
    for (const late of [...this.#late]) {
      late.turns--;
      if (late.turns > 0) continue;
      this.#late.splice(this.#late.indexOf(late), 1);
      late.finish();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  #isFailing(): boolean {
    if (this.failures === 0) return false;
    this.failures--;
    return true;
  }

  #checkReuse(client: Client, { checkpoint }: Prepared<unknown>, noise: Noise | undefined): void {
    const { last } = client;
    const isGrown =
      last !== undefined &&
      last.items.length <= client.items.length &&
      last.items.every((item, index) => item === client.items[index]);
    if (!isGrown || last.boundary === 0 || this.#storeFailed) return;
    const isReused = (checkpoint?.boundary ?? 0) >= last.boundary;
    // Another spelling may be a few tokens smaller, and a new process then has no reason to fold yet.
    if (noise !== undefined && client.tenant === PATIENT) return;
    if (noise !== undefined) {
      this.counts.noisy++;
      if (isReused) this.counts.reused++;
    } else if (!isReused) throw new Error(`the boundary moved back from ${last.boundary}`);
  }

  isStored({ tenant, configuration, chain }: Checkpoint): boolean {
    return this.store.records.has(`${tenant}\n${configuration}\n${chain}`);
  }

  /** The records that a record goes on from, as far as the store has them: some were never sent. */
  *parentsOf({ tenant, configuration, parent }: Checkpoint): Iterable<Checkpoint> {
    for (let chain = parent; chain !== undefined; ) {
      const record = this.store.records.get(`${tenant}\n${configuration}\n${chain}`);
      if (record === undefined) return;
      yield record;
      chain = record.parent;
    }
  }

  /** Whether a record was not looked at yet. */
  isNew(checkpoint: Checkpoint): boolean {
    const key = `${checkpoint.tenant} ${checkpoint.chain}`;
    if (this.#seen.has(key)) return false;
    if (this.isStored(checkpoint)) this.#seen.add(key);
    return true;
  }

  noteReduced(tenant: string, nonce: number): void {
    this.#reduced.add(`${tenant} ${nonce}`);
  }

  wasReduced(tenant: string, nonce: number): boolean {
    return this.#reduced.has(`${tenant} ${nonce}`);
  }

  /** A prefix that is covered is never summarised again, unless the store had not taken it and its process has ended. */
  notePaid(tenant: string, prefix: string, id: string): void {
    const key = `${tenant} ${prefix}`;
    const before = this.#paid.get(key);
    const isCovered =
      before !== undefined && (before.process === this.#process || this.#isInStore(tenant, before.id));
    if (isCovered && before.id !== id)
      throw new Error(`${before.id} and ${id} were both paid for one prefix`);
    this.#paid.set(key, { id, process: this.#process });
  }

  #isInStore(tenant: string, id: string): boolean {
    return [...this.store.records.values()].some(
      (record) => record.tenant === tenant && JSON.stringify(record.parts).includes(id),
    );
  }
}

async function turnsOf(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Whatever left can be read again, under the name that its run has. */
function checkArchive(world: KeeperWorld, client: Client, checkpoint: Checkpoint): void {
  for (const { fate, start, end, handle } of checkpoint.receipt.runs) {
    if (fate === 'verbatim') continue;
    const span = world.store.archived.get(`${client.tenant}\n${handle}`);
    if (span === undefined) throw new Error(`nothing is kept under ${handle}`);
    const kept = new Set(noncesIn(JSON.parse(new TextDecoder().decode(span.body))));
    const lost = client.items.slice(start, end).find(({ nonce }) => !kept.has(nonce));
    if (lost !== undefined) throw new Error(`${lost.nonce} is not kept under ${handle}`);
    if (fate === 'reduced')
      for (const { nonce } of client.items.slice(start, end)) world.noteReduced(client.tenant, nonce);
  }
}

interface Sent {
  readonly prepared: Prepared<{ readonly messages: readonly unknown[] }>;
  readonly raws: readonly unknown[];
}

function checkPrepared(world: KeeperWorld, client: Client, { prepared, raws }: Sent): void {
  const { value, checkpoint, status } = prepared;
  const sent = value.messages;
  const faults = findContract(FORMAT_CONTRACT)?.check(value, { scope: 'messages' }) ?? [];
  const fault = faults.find(({ severity }) => severity === 'error');
  if (fault !== undefined) throw new Error(`${fault.rule} ${fault.path}: ${fault.message}`);
  if (status === 'reduced') world.counts.reduced++;
  if (status === 'unchanged' && sent.some((raw, index) => raw !== raws[index]))
    throw new Error('not the same');
  if (checkpoint === undefined) return;
  world.counts.folded++;
  if (checkpoint.tenant !== client.tenant) throw new Error('a record of another tenant');
  checkCoverage(world, client, { prepared, raws });
}

/** Every message is in exactly one place, and what is summarised is what a summarizer was shown. */
function checkCoverage(world: KeeperWorld, client: Client, { prepared, raws }: Sent): void {
  const { value, checkpoint, status } = prepared;
  if (checkpoint === undefined) return;
  const fates = raws.map(() => 'verbatim');
  let next = 0;
  for (const { fate, start, end } of checkpoint.receipt.runs) {
    if (start !== next) throw new Error(`the runs have a gap at ${next}`);
    fates.fill(fate, start, end);
    next = end;
  }
  if (next !== checkpoint.boundary) throw new Error('the runs do not end at the boundary');
  const made = checkpoint.parts.flatMap((part) => ('raw' in part ? [part.raw] : []));
  // The same chain is the same messages: what was true of them once is true.
  if (world.isNew(checkpoint)) checkSummaries(world, client, { checkpoint, fates, made });
  if (status === 'reduced') return;
  // In order, each verbatim message once, and nothing but what was made between them.
  const kept = raws.filter((_, index) => fates[index] === 'verbatim');
  const places = new Set(kept);
  const shown = value.messages.filter((raw) => places.has(raw));
  if (shown.length !== kept.length || shown.some((raw, index) => raw !== kept[index]))
    throw new Error('a message that stands as it is was lost, doubled or moved');
  if (value.messages.length !== kept.length + made.length)
    throw new Error('there is more in the view than was made');
}

interface Coverage {
  readonly checkpoint: Checkpoint;
  readonly fates: readonly string[];
  readonly made: readonly unknown[];
}

function checkSummaries(world: KeeperWorld, client: Client, { checkpoint, fates, made }: Coverage): void {
  const ids = made.flatMap((raw) => summaryIdsIn(JSON.stringify(raw)));
  const seen = new Set<number>();
  for (const id of ids) {
    const summary = world.summary(id);
    if (summary?.tenant !== client.tenant) throw new Error('a summary of another tenant');
    for (const nonce of summary.nonces) seen.add(nonce);
  }
  for (const { receipt } of world.parentsOf(checkpoint)) {
    const reduced = receipt.runs.filter(({ fate }) => fate === 'reduced');
    for (const { start, end } of reduced)
      for (const { nonce } of client.items.slice(start, end)) world.noteReduced(client.tenant, nonce);
  }
  const covered = client.items.filter((_, index) => fates[index] === 'summarised').map(({ nonce }) => nonce);
  // Whatever was reduced in an earlier record is shown as it stands there, without its nonce.
  const isExact =
    covered.every((nonce) => seen.has(nonce) || world.wasReduced(client.tenant, nonce)) &&
    [...seen].every((nonce) => covered.includes(nonce));
  if (!isExact) throw new Error(`covered are ${covered}, shown were ${[...seen]}`);
  // What the store has not taken yet, it has kept nothing of.
  if (world.isStored(checkpoint)) checkArchive(world, client, checkpoint);
  const newest = Math.max(...ids.map((id) => Number(id.split('-')[1])));
  const id = ids.find((each) => each === `summary-${newest}-`);
  const last = client.items.findLastIndex((_, index) => fates[index] === 'summarised');
  if (id !== undefined) {
    const prefix = client.items.slice(0, last + 1).map(({ nonce }) => nonce);
    world.notePaid(client.tenant, prefix.join(), id);
  }
}
