import { cacheMissesOf, type MissCause, missCauses } from '../lab/cache-misses.ts';
import { recordedStretches, replayStretches } from '../lab/recorded-replay.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import type { Recording } from '../transcripts/recordings.ts';
import { requestsOf } from '../transcripts/requests.ts';
import { type RecordedCost, recordedCost, sumCosts } from './recorded-cost.ts';
import { addSpending, noSpending, type Purpose, purposes } from './spending.ts';

/** What a session cost, and why. All money is in dollars. Plain data. */
export interface SessionMoney {
  readonly cost: RecordedCost;
  /** The dearest model first. */
  readonly models: readonly ModelCost[];
  /** Adds up to the cost. The dearest first; what nothing was spent on is left out. */
  readonly spentOn: readonly { readonly purpose: Purpose; readonly dollars: number }[];
  readonly cacheMisses: readonly MissTotal[];
  /** Undefined where no price is known for any of its models. */
  readonly replay: MoneyReplay | undefined;
}

export interface ModelCost extends RecordedCost {
  readonly model: string | undefined;
}

/** What a cache did not have for one reason. */
export interface MissTotal {
  readonly cause: MissCause;
  readonly requests: number;
  readonly tokens: number;
  /** What that cost beyond reading the same tokens from the cache. */
  readonly dollars: number;
}

/** The same requests sent again to a cache that works by the provider's terms, at the recorded prices. */
export interface MoneyReplay {
  /** What the record says about the requests that were sent again. */
  readonly recorded: number;
  /** What the replay says about them. */
  readonly asItWas: number;
  readonly withRoundfold: number;
  readonly saved: number;
  /** Compactions that the replay with roundfold did. */
  readonly compactions: number;
}

/**
 * Explains the cost of one session, as far as one file has it.
 * @param recordings the session and its sub-agents
 * @param isReplayed whether to send it again too, which takes ten times as long as all the rest
 */
export async function sessionMoney(
  recordings: readonly Recording[],
  isReplayed = true,
): Promise<SessionMoney> {
  const charges = recordings.flatMap(({ transcript }) => transcript.charges ?? []);
  const { requests, elsewhere } = requestsOf(recordings);
  const spending = noSpending();
  spending.elsewhere = recordedCost(elsewhere).dollars;
  for (const [recording, own] of requests) addSpending(spending, recording, own, estimatorOf(recording));
  const models = Map.groupBy(charges, ({ model }) => model);
  return {
    cost: recordedCost(charges),
    models: [...models]
      .map(([model, own]) => ({ model, ...recordedCost(own) }))
      .toSorted((left, right) => right.dollars - left.dollars),
    spentOn: purposes
      .map((purpose) => ({ purpose, dollars: spending[purpose] }))
      .filter(({ dollars }) => dollars > 0)
      .toSorted((left, right) => right.dollars - left.dollars),
    cacheMisses: sumMisses([...requests.values()].flatMap(cacheMissesOf)),
    replay: isReplayed ? await replayAll(requests) : undefined,
  };
}

/** The money of several sessions, or of one that is in several files. */
export function sumMoney(list: readonly SessionMoney[]): SessionMoney {
  const models = Map.groupBy(
    list.flatMap((money) => money.models),
    ({ model }) => model,
  );
  const purposeSums = Map.groupBy(
    list.flatMap(({ spentOn }) => spentOn),
    ({ purpose }) => purpose,
  );
  const misses = list.flatMap(({ cacheMisses }) => cacheMisses);
  const replays = list.flatMap(({ replay }) => (replay === undefined ? [] : [replay]));
  return {
    cost: sumCosts(list.map(({ cost }) => cost)),
    models: [...models]
      .map(([model, own]) => ({ model, ...sumCosts(own) }))
      .toSorted((left, right) => right.dollars - left.dollars),
    spentOn: [...purposeSums]
      .map(([purpose, own]) => ({ purpose, dollars: own.reduce((sum, { dollars }) => sum + dollars, 0) }))
      .toSorted((left, right) => right.dollars - left.dollars),
    cacheMisses: missCauses.flatMap((cause) => {
      const own = misses.filter((miss) => miss.cause === cause);
      const sum = (key: 'requests' | 'tokens' | 'dollars'): number =>
        own.reduce((total, miss) => total + miss[key], 0);
      return own.length === 0
        ? []
        : [{ cause, requests: sum('requests'), tokens: sum('tokens'), dollars: sum('dollars') }];
    }),
    replay: replays.length === 0 ? undefined : replays.reduce(addReplays),
  };
}

function addReplays(left: MoneyReplay, right: MoneyReplay): MoneyReplay {
  return {
    recorded: left.recorded + right.recorded,
    asItWas: left.asItWas + right.asItWas,
    withRoundfold: left.withRoundfold + right.withRoundfold,
    saved: left.saved + right.saved,
    compactions: left.compactions + right.compactions,
  };
}

function estimatorOf({ transcript }: Recording) {
  return createTokenEstimator({ profile: tokenProfileForModel(transcript.model) });
}

function sumMisses(misses: ReturnType<typeof cacheMissesOf>): readonly MissTotal[] {
  return missCauses.flatMap((cause) => {
    const own = misses.filter((miss) => miss.cause === cause);
    const sum = (key: 'tokens' | 'dollars'): number => own.reduce((total, miss) => total + miss[key], 0);
    return own.length === 0
      ? []
      : [{ cause, requests: own.length, tokens: sum('tokens'), dollars: sum('dollars') }];
  });
}

async function replayAll(
  requests: ReturnType<typeof requestsOf>['requests'],
): Promise<MoneyReplay | undefined> {
  let total: MoneyReplay | undefined;
  for (const [recording, own] of requests) {
    const estimator = estimatorOf(recording);
    const stretches = recordedStretches(recording, own, estimator);
    if (stretches.length === 0) continue;
    const charges = stretches.flatMap((stretch) => stretch.requests.map(({ charge }) => charge));
    const { asItWas, withRoundfold, compactions } = await replayStretches(stretches, estimator);
    const recorded = recordedCost(charges).dollars;
    const replay = { recorded, asItWas, withRoundfold, saved: asItWas - withRoundfold, compactions };
    total = total === undefined ? replay : addReplays(total, replay);
  }
  return total;
}
