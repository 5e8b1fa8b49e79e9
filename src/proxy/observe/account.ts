import { growthPerTurn } from '../../compaction/economics/advice.ts';
import type { PriceSet } from '../../compaction/economics/costs.ts';
import { printable } from '../../conversation/printable.ts';
import type { PreparedStatus } from '../../keeper/keeper.ts';
import type { ExchangeRecord, ReportedUsage } from '../record.ts';
import { billTurn, type MoneyState, type TurnMoney } from './money.ts';
import { tellStatus } from './words.ts';

/** One request of a conversation and its answer, in numbers. */
export interface Turn {
  /** Counted from 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly model: string | undefined;
  readonly status: PreparedStatus;
  readonly reason: string | undefined;
  readonly messages: number;
  readonly tokensReceived: number | undefined;
  readonly tokensSent: number | undefined;
  readonly tokensByKind: Readonly<Record<string, number>> | undefined;
  readonly checkpoint: string | undefined;
  /** Whether it is the first that went out with its checkpoint. */
  readonly isFold: boolean;
  readonly recoveries: number;
  readonly httpStatus: number | undefined;
  readonly usage: ReportedUsage | undefined;
  /** Undefined where the provider reported nothing, or the prices of the model are not known. */
  readonly money: TurnMoney | undefined;
  readonly prepareMs: number;
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
}

/** Sums of money, in USD. `saved` and `lost` are sums over turns: one does not hide the other. */
export interface MoneyTotals {
  readonly direct: number;
  readonly sent: number;
  readonly saved: number;
  readonly lost: number;
  readonly cacheWrites: number;
  readonly turns: number;
  /** Turns that nothing is known about the price of. */
  readonly unpricedTurns: number;
  /** Turns that would not have fitted without us. */
  readonly cutTurns: number;
  /** Of `sent` and `lost`, what models were paid for summaries. */
  readonly summaries: number;
  /** Summaries that nothing is known about the price of. */
  readonly unpricedSummaries: number;
}

export const noMoney: MoneyTotals = {
  direct: 0,
  sent: 0,
  saved: 0,
  lost: 0,
  cacheWrites: 0,
  turns: 0,
  unpricedTurns: 0,
  cutTurns: 0,
  summaries: 0,
  unpricedSummaries: 0,
};

/** The totals with one more turn. */
export function addMoney(totals: MoneyTotals, money: TurnMoney | undefined): MoneyTotals {
  if (money === undefined)
    return { ...totals, turns: totals.turns + 1, unpricedTurns: totals.unpricedTurns + 1 };
  const saved = money.direct - money.sent;
  return {
    ...totals,
    direct: totals.direct + money.direct,
    sent: totals.sent + money.sent,
    saved: totals.saved + Math.max(0, saved),
    lost: totals.lost + Math.max(0, -saved),
    cacheWrites: totals.cacheWrites + money.cacheWrites,
    turns: totals.turns + 1,
    cutTurns: totals.cutTurns + (money.isCut ? 1 : 0),
  };
}

/** The totals with one more summary that a model wrote: nobody would have paid for it without us. */
export function addSummary(totals: MoneyTotals, cost: number | undefined): MoneyTotals {
  if (cost === undefined) return { ...totals, unpricedSummaries: totals.unpricedSummaries + 1 };
  return {
    ...totals,
    sent: totals.sent + cost,
    lost: totals.lost + cost,
    summaries: totals.summaries + cost,
  };
}

/** What is known of one conversation. */
export interface Account {
  readonly id: string;
  readonly tenant: string;
  /** Every name it was known by, the newest last. */
  names: readonly string[];
  /** The one it has with all its messages so far. */
  name: string;
  readonly firstAt: number;
  last: Turn;
  /** The newest, oldest first. */
  turns: readonly Turn[];
  turnCount: number;
  foldCount: number;
  client: string | undefined;
  format: string | undefined;
  windowTokens: number | undefined;
  triggerTokens: number | undefined;
  money: MoneyTotals;
  moneyState: MoneyState | undefined;
  promptTokens: number;
  cacheReadTokens: number;
  /** What went wrong in the background since the last fold. */
  trouble: string | undefined;
}

/** A conversation as a list shows it. */
export interface ConversationRow {
  readonly id: string;
  /** Beginning of the tenant's hash. */
  readonly tenant: string;
  readonly client: string | undefined;
  readonly model: string | undefined;
  readonly format: string | undefined;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly turns: number;
  readonly folds: number;
  readonly messages: number;
  readonly status: PreparedStatus;
  readonly reason: string | undefined;
  /** Status and reason in words. */
  readonly explanation: string;
  readonly trouble: string | undefined;
  readonly tokensSent: number | undefined;
  readonly tokensReceived: number | undefined;
  readonly windowTokens: number | undefined;
  readonly triggerTokens: number | undefined;
  /** Turns until the next fold, should it go on growing as it did; undefined where none is in sight. */
  readonly nextFold: number | undefined;
  readonly money: MoneyTotals;
  /** Share of all prompt tokens that the provider read from its cache; undefined where nothing was reported. */
  readonly cacheHitRate: number | undefined;
  readonly httpStatus: number | undefined;
}

const SHOWN_TENANT = 8;

export function rowOf(account: Account): ConversationRow {
  const { last, promptTokens } = account;
  return {
    id: account.id,
    tenant: account.tenant.slice(0, SHOWN_TENANT),
    client: account.client,
    model: last.model,
    format: account.format,
    firstAt: account.firstAt,
    lastAt: last.at,
    turns: account.turnCount,
    folds: account.foldCount,
    messages: last.messages,
    status: last.status,
    reason: last.reason,
    explanation: tellStatus(last.status, last.reason),
    trouble: account.trouble,
    tokensSent: last.tokensSent,
    tokensReceived: last.tokensReceived,
    windowTokens: account.windowTokens,
    triggerTokens: account.triggerTokens,
    nextFold: turnsToNextFold(account),
    money: account.money,
    cacheHitRate: promptTokens === 0 ? undefined : account.cacheReadTokens / promptTokens,
    httpStatus: last.httpStatus,
  };
}

/** Turns whose growth tells how the conversation goes on. */
const PACE_TURNS = 12;

/** Requests that nobody may touch are never folded; what is above the trigger is folded with the next turn. */
function turnsToNextFold({ turns, last, triggerTokens }: Account): number | undefined {
  if (last.status === 'passed' || triggerTokens === undefined || last.tokensSent === undefined)
    return undefined;
  const left = triggerTokens - last.tokensSent;
  if (left <= 0) return 0;
  // What comes grows as what is sent does, and no fold interrupts it.
  const sizes = turns.slice(-PACE_TURNS).flatMap(({ tokensReceived }) => tokensReceived ?? []);
  const growth = growthPerTurn(sizes);
  return growth > 0 ? Math.ceil(left / growth) : undefined;
}

/** One for each of the messages that a conversation is named by. */
const MOST_NAMES = 4;

/** Enters a request into the account of its conversation, or opens one. */
export function enterTurn(
  known: Account | undefined,
  record: ExchangeRecord & { readonly tenant: string; readonly conversation: string },
  {
    id,
    prices,
    mostTurns,
  }: { readonly id: string; readonly prices: PriceSet | undefined; readonly mostTurns: number },
): Account {
  const before = known?.last;
  const isNewView = before !== undefined && isOtherView(before, record);
  const billed =
    prices === undefined ? undefined : billOf(record, { prices, isNewView, before: known?.moneyState });
  const isFold = known !== undefined && isFirstUse(known, record.checkpoint);
  const turn = turnOf(record, { number: (known?.turnCount ?? 0) + 1, isFold, money: billed?.money });
  const account: Account = known ?? {
    id,
    tenant: record.tenant,
    name: record.conversation,
    names: [],
    firstAt: record.startedAt,
    last: turn,
    turns: [],
    turnCount: 0,
    foldCount: 0,
    client: undefined,
    format: undefined,
    windowTokens: undefined,
    triggerTokens: undefined,
    money: noMoney,
    moneyState: undefined,
    promptTokens: 0,
    cacheReadTokens: 0,
    trouble: undefined,
  };
  account.last = turn;
  account.name = record.names?.[0] ?? record.conversation;
  account.names = [
    ...new Set([...account.names, ...(record.names ?? []).toReversed(), record.conversation]),
  ].slice(-MOST_NAMES);
  account.turns = [...account.turns.slice(-(mostTurns - 1)), turn];
  account.turnCount++;
  if (isFold) account.foldCount++;
  account.client = short(record.client) ?? account.client;
  account.format = record.format;
  account.windowTokens = finite(record.windowTokens) ?? account.windowTokens;
  account.triggerTokens = finite(record.triggerTokens) ?? account.triggerTokens;
  account.money = addMoney(account.money, turn.money);
  account.moneyState = billed?.state ?? account.moneyState;
  account.promptTokens += record.usage?.promptTokens ?? 0;
  account.cacheReadTokens += record.usage?.cacheReadTokens ?? 0;
  if (isFold) account.trouble = undefined;
  return account;
}

/** Going back to an earlier view, as after an undo, is no fold. */
function isFirstUse({ turns }: Account, checkpoint: string | undefined): boolean {
  return checkpoint !== undefined && !turns.some((turn) => turn.checkpoint === checkpoint);
}

function isOtherView(before: Turn, record: ExchangeRecord): boolean {
  if (before.status === 'reduced' || record.status === 'reduced') return true;
  return before.checkpoint !== record.checkpoint;
}

function billOf(
  { usage, tokensReceived, tokensSent, windowTokens, startedAt }: ExchangeRecord,
  {
    prices,
    isNewView,
    before,
  }: { readonly prices: PriceSet; readonly isNewView: boolean; readonly before: MoneyState | undefined },
): ReturnType<typeof billTurn> | undefined {
  if (usage === undefined) return undefined;
  const sent = tokensSent ?? tokensReceived ?? usage.promptTokens;
  const sizes = {
    tokensSent: sent,
    tokensReceived: tokensReceived ?? sent,
    windowTokens: finite(windowTokens),
  };
  return billTurn({ prices, usage, ...sizes, isNewView, startedAt }, before);
}

function turnOf(record: ExchangeRecord, rest: Pick<Turn, 'number' | 'isFold' | 'money'>): Turn {
  return {
    ...rest,
    at: record.startedAt,
    model: short(record.model),
    status: record.status,
    reason: record.reason,
    messages: record.messages,
    tokensReceived: record.tokensReceived,
    tokensSent: record.tokensSent,
    tokensByKind: record.tokensByKind,
    checkpoint: record.checkpoint,
    recoveries: record.recoveries,
    httpStatus: record.httpStatus,
    usage: record.usage,
    prepareMs: record.prepareMs,
    firstByteMs: record.firstByteMs,
    totalMs: record.totalMs,
  };
}

const LONGEST_NAME = 80;

/** Names of models and clients come with requests: they may be anything. */
export function short(name: string | undefined): string | undefined {
  return name === undefined ? undefined : printable(name, LONGEST_NAME);
}

function finite(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : undefined;
}
