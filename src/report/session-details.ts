import { runCompaction } from '../compaction/engine.ts';
import { createEngine } from '../compaction/options.ts';
import { changeOf } from '../compaction/plan/strategy.ts';
import { findContract } from '../contracts/registry.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import { type Conversation, writeConversation } from '../conversation/format.ts';
import { mendConversation } from '../formats/mend/mend.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { requestTokens } from '../tokens/measure.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import type { RecordedCharge } from '../transcripts/charges.ts';
import type { Recording } from '../transcripts/recordings.ts';
import { accountForCompaction, type ContextSize } from './compaction-account.ts';
import { type Inspection, inspectConversation } from './inspection.ts';
import { recordedCost } from './recorded-cost.ts';
import { type RoundSeries, recordedSeries } from './round-series.ts';
import { type SessionMoney, sessionMoney, sumMoney } from './session-money.ts';
import { promptLimit, type SessionGroup, sessionGroups } from './session-row.ts';

/** What the page of a session tells beyond its row. Plain data that survives JSON: it is kept between looks. */
export interface SessionDetails {
  /** Which conversation of its file it is, from 1 on. */
  readonly conversation: number;
  readonly title: string;
  /** Reader, wire format and model, as far as they are known. */
  readonly about: readonly string[];
  readonly notes: readonly string[];
  readonly inspection: Inspection;
  readonly series: RoundSeries;
  readonly money: SessionMoney;
  /** Dollars spent until each response, the oldest first; of many responses some. */
  readonly spent: readonly SpentUntil[];
  /** Dollars by day, as `2026-11-18`. */
  readonly days: readonly (readonly [day: string, dollars: number])[];
  /** What `compact` would make of it; undefined where there is nothing to make smaller. */
  readonly compacted: CompactedSizes | undefined;
  /** What a provider would refuse it for: the first few. */
  readonly faults: readonly SessionFault[];
}

export interface SpentUntil {
  readonly atMs: number;
  readonly response: number;
  readonly dollars: number;
}

export interface CompactedSizes {
  readonly before: ContextSize;
  readonly after: ContextSize;
}

export interface SessionFault {
  readonly message: string;
  readonly fix: string;
  /** Line of the file; null where nobody knows it. */
  readonly line: number | null;
}

export interface DetailOptions {
  /** Whether to find out what each session would have cost with roundfold, which takes long. */
  readonly isReplayed: boolean;
}

/** The details of the sessions of a file, in the order of its rows. */
export async function* detailsOf(
  recordings: AsyncIterable<Recording>,
  options: DetailOptions,
): AsyncGenerator<SessionDetails> {
  const all: Recording[] = [];
  for await (const recording of recordings) all.push(recording);
  for (const group of sessionGroups(all)) yield await groupDetails(group, all, options);
}

const SHOWN_FAULTS = 5;
const SPENT_POINTS = 60;
const NAMED = 5;

async function groupDetails(
  { main, all }: SessionGroup,
  inFile: readonly Recording[],
  { isReplayed }: DetailOptions,
): Promise<SessionDetails> {
  const { transcript, conversations } = main;
  const { model, reader, format } = transcript;
  const live = conversations.at(-1);
  if (live === undefined)
    throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  const windowTokens = transcript.windowTokens ?? (model === undefined ? undefined : promptLimit(model));
  const charges = all
    .flatMap((recording) => recording.transcript.charges ?? [])
    .toSorted((left, right) => timeOf(left) - timeOf(right));
  return {
    conversation: inFile.indexOf(main) + 1,
    title: transcript.title,
    about: [reader, format, ...(model === undefined ? [] : [model])],
    notes: transcript.notes,
    inspection: inspectConversation(live, { estimator, windowTokens, top: NAMED }),
    series: recordedSeries(main, estimator),
    money: await sessionMoney(all, isReplayed),
    spent: spentUntil(charges),
    days: spentByDay(charges),
    compacted: await compactedSizes(live, model),
    faults: faultsOf(main, live),
  };
}

function timeOf({ timestamp }: RecordedCharge): number {
  return timestamp === undefined ? 0 : Date.parse(timestamp) || 0;
}

function spentUntil(charges: readonly RecordedCharge[]): readonly SpentUntil[] {
  let dollars = 0;
  const all = charges.map((charge, index) => {
    dollars += recordedCost([charge]).dollars;
    return { atMs: timeOf(charge), response: index + 1, dollars };
  });
  return thinned(all);
}

function thinned(spent: readonly SpentUntil[]): readonly SpentUntil[] {
  const step = Math.max(1, Math.ceil(spent.length / SPENT_POINTS));
  return spent.filter((_, index) => index % step === 0 || index === spent.length - 1);
}

/** The details of a session whose sub-agents have files of their own: the money of all, the context of the session. */
export function mergeDetails(main: SessionDetails, others: readonly SessionDetails[]): SessionDetails {
  if (others.length === 0) return main;
  const all = [main, ...others];
  const days = new Map<string, number>();
  for (const [day, dollars] of all.flatMap((one) => one.days)) days.set(day, (days.get(day) ?? 0) + dollars);
  return {
    ...main,
    money: sumMoney(all.map(({ money }) => money)),
    spent: mergeSpent(all.map(({ spent }) => spent)),
    days: [...days],
  };
}

function mergeSpent(curves: readonly (readonly SpentUntil[])[]): readonly SpentUntil[] {
  const steps = curves.flatMap((curve) =>
    curve.map(({ atMs, response, dollars }, index) => ({
      atMs,
      responses: response - (curve[index - 1]?.response ?? 0),
      dollars: dollars - (curve[index - 1]?.dollars ?? 0),
    })),
  );
  let response = 0;
  let dollars = 0;
  const merged = steps
    .toSorted((left, right) => left.atMs - right.atMs)
    .map((step) => {
      response += step.responses;
      dollars += step.dollars;
      return { atMs: step.atMs, response, dollars };
    });
  return thinned(merged);
}

function spentByDay(charges: readonly RecordedCharge[]): SessionDetails['days'] {
  const dated = charges.filter((charge) => timeOf(charge) > 0);
  const byDay = Map.groupBy(dated, (charge) => new Date(timeOf(charge)).toISOString().slice(0, 10));
  return [...byDay].map(([day, own]) => [day, recordedCost(own).dollars] as const);
}

/** Share of the tokens that `compact` leaves when nobody names a budget. */
const DEFAULT_BUDGET = 0.5;

/** The very run that `compact` does without options, without the text that comes of it. */
async function compactedSizes(
  live: Conversation,
  model: string | undefined,
): Promise<CompactedSizes | undefined> {
  const engine = createEngine({ model, windowTokens: 0, economy: false });
  const { conversation } = mendConversation(live, { model });
  const tokens = requestTokens(conversation, engine.estimator);
  const turn = { conversation, tokens, idleSeconds: undefined, signal: undefined };
  const order = { trigger: 'manual', targetTokens: Math.floor(tokens * DEFAULT_BUDGET) } as const;
  const { outcome } = await runCompaction(engine, turn, order);
  const change = changeOf(outcome);
  if (change === undefined) return undefined;
  const { before, after } = accountForCompaction(
    conversation,
    { ...change, reason: '' },
    { estimator: engine.estimator },
  );
  return { before, after };
}

function faultsOf({ transcript }: Recording, live: Conversation): readonly SessionFault[] {
  const context = { scope: 'messages', model: transcript.model } as const;
  const violations = findContract(transcript.format)?.check(writeConversation(live), context) ?? [];
  const origins = transcript.segments.at(-1)?.origins ?? [];
  return violations
    .filter(({ severity }) => severity === 'error')
    .slice(0, SHOWN_FAULTS)
    .map(({ message, fix, path }) => {
      const index = /^\w+[.[](\d+)/.exec(path)?.[1];
      const line = index === undefined ? undefined : origins[Number(index)]?.place.line;
      return { message: message.slice(0, 400), fix: fix.slice(0, 400), line: line ?? null };
    });
}
