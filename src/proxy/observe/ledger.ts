import { createHash } from 'node:crypto';
import { oneOffCost, type PriceSet, priceSetOf } from '../../compaction/economics/costs.ts';
import { formats } from '../../formats/registry.ts';
import { Recent } from '../../keeper/recent.ts';
import { findModel } from '../../tokens/catalog.ts';
import type { ExchangeRecord, FoldEvent, ProxyObserver } from '../record.ts';
import {
  type Account,
  addMoney,
  addSummary,
  type ConversationRow,
  enterTurn,
  type MoneyTotals,
  noMoney,
  rowOf,
  short,
  type Turn,
} from './account.ts';
import { classOf, type Health, HealthBook } from './health.ts';
import { Meters, type Metric } from './meters.ts';
import type { TurnMoney } from './money.ts';

export interface LedgerOptions {
  /** Conversations that are remembered; the one that was quiet for longest goes first. Default 100. */
  readonly conversations?: number | undefined;
  /** Turns of each that are remembered. Default 300. */
  readonly turns?: number | undefined;
  /** Prices of a model on a day (`2026-12-24`). Default: the catalog's list prices. */
  readonly pricesFor?: ((model: string, day: string) => PriceSet | undefined) | undefined;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: (() => number) | undefined;
}

/** What everything together has cost. */
export interface Money extends MoneyTotals {
  readonly byModel: readonly (MoneyTotals & { readonly model: string })[];
  /** Sums up to a moment, oldest first. */
  readonly series: readonly MoneyPoint[];
  /** Turns that have cost more than they would have without us, and summaries by models, the dearest first. */
  readonly losses: readonly LosingTurn[];
}

export interface MoneyPoint {
  readonly at: number;
  readonly direct: number;
  readonly sent: number;
}

export interface LosingTurn extends MoneyPoint {
  readonly id: string;
  readonly turn: number;
  readonly isFold: boolean;
  /** Whether it is a summary that a model was paid for after that turn. */
  readonly isSummary?: boolean;
}

/** Says whose conversation it is in the store. */
export interface ConversationPlace {
  readonly tenant: string;
  /** Every name that its records may be kept under. */
  readonly names: readonly string[];
  readonly format: string | undefined;
}

/** What became of requests, in numbers. Never holds content. */
export interface Ledger extends Required<ProxyObserver> {
  /** Conversations, the one with the newest turn first. */
  conversations(): readonly ConversationRow[];
  row(id: string): ConversationRow | undefined;
  turns(id: string): readonly Turn[];
  place(id: string): ConversationPlace | undefined;
  money(): Money;
  /** The sums alone. */
  totals(): MoneyTotals;
  health(): Health;
  metrics(): readonly Metric[];
  /** Is called after every change with the conversation it was about, if it was about one. The answer ends it. */
  subscribe(listener: (id: string | undefined) => void): () => void;
}

const CONVERSATIONS = 100;
const TURNS = 300;
const NAMES_PER_CONVERSATION = 4;
const MOST_MODELS = 30;
const MOST_POINTS = 1000;
const MOST_LOSSES = 50;

const formatNames = Object.fromEntries(formats.map(({ name }) => [name, true as const]));

/** Opens an empty ledger: tell it what a proxy tells, and read it at any time. */
export function createLedger(options: LedgerOptions = {}): Ledger {
  const { conversations = CONVERSATIONS, turns: mostTurns = TURNS, now = Date.now } = options;
  const pricesFor = options.pricesFor ?? listPrices;
  const accounts = new Recent<string, Account>(conversations);
  // A conversation that has got its last name is still the one that it was.
  const ids = new Recent<string, string>(conversations * NAMES_PER_CONVERSATION);
  /** Two that have their first messages in common are two, as soon as both have got further. */
  const find = (tenant: string, names: readonly string[]) =>
    names
      .map((name) => ids.get(idOf(tenant, name)))
      .find((id) => id !== undefined && names.includes(accounts.get(id)?.name ?? ''));
  const newId = (tenant: string, name: string) => {
    const id = idOf(tenant, name);
    return accounts.get(id) === undefined ? id : idOf(tenant, `${name} ${++namesakes}`);
  };
  let namesakes = 0;
  const health = new HealthBook(now());
  const meters = new Meters(formatNames);
  const book = new MoneyBook();
  const listeners = new Set<(id: string | undefined) => void>();
  const tell = (id: string | undefined) => {
    for (const listener of listeners) listener(id);
  };

  const enter = (
    record: ExchangeRecord,
  ): { readonly id?: string; readonly money?: TurnMoney | undefined } => {
    const { tenant, conversation } = record;
    if (record.kind !== 'generate' || tenant === undefined || conversation === undefined) return {};
    const id = find(tenant, [conversation, ...(record.names ?? [])]) ?? newId(tenant, conversation);
    const day = new Date(record.startedAt).toISOString();
    const prices = record.model === undefined ? undefined : pricesFor(record.model, day);
    const account = enterTurn(
      accounts.get(id),
      { ...record, tenant, conversation },
      { id, prices, mostTurns },
    );
    accounts.use(id, account);
    for (const name of account.names) ids.use(idOf(tenant, name), id);
    book.enter(account);
    return { id, money: account.last.money };
  };

  const paid = ({ tenant, conversation, model, usage }: SummaryPaid) => {
    const at = now();
    const prices = model === undefined ? undefined : pricesFor(model, new Date(at).toISOString());
    // Whether anything of it was read from a cache is not reported: the most it can have cost.
    const cost = prices === undefined ? undefined : oneOffCost(prices, { ...usage, cachedTokens: 0 });
    const account = accountsOf(accounts, conversation).find((each) => each.tenant === tenant);
    if (account !== undefined) account.money = addSummary(account.money, cost);
    book.enterSummary({ account, model: short(model), cost, at });
    meters.summary(cost);
    tell(account?.id);
  };

  return {
    exchange(record) {
      const { id, money } = enter(record);
      health.exchange(record);
      meters.exchange(record, money);
      tell(id);
    },
    refused(record) {
      health.refused(record);
      meters.refused(record);
      tell(undefined);
    },
    keeperEvent(event) {
      health.keeperEvent(event, now());
      if (event.type === 'summary-paid') paid(event);
      const about = troubleOf(event);
      const concerned = about === undefined ? [] : accountsOf(accounts, about.conversation);
      for (const account of concerned) account.trouble = about?.words;
      tell(concerned[0]?.id);
    },
    windowLearnt(model, windowTokens) {
      health.windowLearnt(short(model) ?? '', windowTokens);
      tell(undefined);
    },
    streamOpened: () => {
      health.streamOpened();
      tell(undefined);
    },
    streamClosed: () => {
      health.streamClosed();
      tell(undefined);
    },
    conversations: () => accounts.values().toReversed().map(rowOf),
    row: (id) => mapped(accounts.get(id), rowOf),
    turns: (id) => accounts.get(id)?.turns ?? [],
    place: (id) => mapped(accounts.get(id), ({ tenant, names, format }) => ({ tenant, names, format })),
    money: () => book.read(),
    totals: () => book.totals(),
    health: () => health.read(),
    metrics: () => meters.read(health.read()),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function mapped<Value, Result>(value: Value | undefined, map: (value: Value) => Result): Result | undefined {
  return value === undefined ? undefined : map(value);
}

/** A name that can stand in an address and tells nothing about the tenant. */
function idOf(tenant: string, conversation: string): string {
  return createHash('sha256').update(`${conversation} ${tenant}`).digest('hex').slice(0, 16);
}

function listPrices(model: string, day: string): PriceSet | undefined {
  return priceSetOf(findModel(model, { on: day }) ?? {});
}

/** Events name conversations without their tenant. */
function accountsOf(accounts: Recent<string, Account>, conversation: string): readonly Account[] {
  return accounts.values().filter(({ names }) => names.includes(conversation));
}

function troubleOf(
  event: FoldEvent,
): { readonly conversation: string; readonly words: string | undefined } | undefined {
  switch (event.type) {
    case 'checkpoint-saved':
      return { conversation: event.conversation, words: undefined };
    case 'checkpoint-refused':
      return { conversation: event.conversation, words: `a fold was not kept (${event.reason})` };
    case 'compaction-failed':
      return { conversation: event.conversation, words: `a fold failed (${classOf(event.error)})` };
    case 'lease-held':
      return { conversation: event.conversation, words: 'another process folds it' };
    case 'compaction-paused': {
      const { conversation, turns, reason } = event;
      const words = `folds pause for ${turns} turns (${short(reason)})`;
      return conversation === undefined ? undefined : { conversation, words };
    }
    default:
      return undefined;
  }
}

type SummaryPaid = Extract<FoldEvent, { readonly type: 'summary-paid' }>;

interface PaidSummary {
  /** Undefined where the conversation is not remembered. */
  readonly account: Account | undefined;
  readonly model: string | undefined;
  readonly cost: number | undefined;
  readonly at: number;
}

/** Sums money over all conversations. */
class MoneyBook {
  readonly #byModel = new Map<string, MoneyTotals>();
  #totals = noMoney;
  #series: readonly MoneyPoint[] = [];
  #losses: readonly LosingTurn[] = [];

  enter({ id, last }: Account): void {
    const { money, at, number, isFold } = last;
    this.#totals = addMoney(this.#totals, money);
    this.#enterModel(last.model, (totals) => addMoney(totals, money));
    if (money === undefined) return;
    const { direct, sent } = money;
    this.#addPoint(at);
    if (sent > direct) this.#addLoss({ id, turn: number, isFold, at, direct, sent });
  }

  enterSummary({ account, model, cost, at }: PaidSummary): void {
    this.#totals = addSummary(this.#totals, cost);
    this.#enterModel(model, (totals) => addSummary(totals, cost));
    if (cost === undefined) return;
    this.#addPoint(at);
    const { id = '', last } = account ?? {};
    this.#addLoss({ id, turn: last?.number ?? 0, isFold: false, isSummary: true, at, direct: 0, sent: cost });
  }

  #enterModel(model = 'unknown', add: (totals: MoneyTotals) => MoneyTotals): void {
    const name = this.#byModel.has(model) || this.#byModel.size < MOST_MODELS ? model : 'other';
    this.#byModel.set(name, add(this.#byModel.get(name) ?? noMoney));
  }

  #addPoint(at: number): void {
    const { direct, sent } = this.#totals;
    this.#series = thinned([...this.#series, { at, direct, sent }]);
  }

  #addLoss(loss: LosingTurn): void {
    this.#losses = [...this.#losses, loss]
      .toSorted((left, right) => right.sent - right.direct - (left.sent - left.direct))
      .slice(0, MOST_LOSSES);
  }

  totals(): MoneyTotals {
    return this.#totals;
  }

  read(): Money {
    const byModel = [...this.#byModel].map(([model, totals]) => ({ model, ...totals }));
    return {
      ...this.#totals,
      byModel: byModel.toSorted((left, right) => right.sent - left.sent),
      series: this.#series,
      losses: this.#losses,
    };
  }
}

/** Every second point of a series that has got too long; its end stays. */
function thinned(series: readonly MoneyPoint[]): readonly MoneyPoint[] {
  if (series.length <= MOST_POINTS) return series;
  return series.filter((_point, index) => index % 2 === series.length % 2 || index === series.length - 1);
}
