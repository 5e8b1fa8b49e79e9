/** Every way to compact on every session, at one set of prices and in one window. */

import { priceSetOf } from '../../src/compaction/economics/costs.ts';
import { defaultSummarizer } from '../../src/compaction/options.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import { type CostPolicy, type CostReplay, replayCosts } from '../../src/lab/cost-replay.ts';
import {
  ASSUMED_HEAD_TOKENS,
  type CostSession,
  costSessionsOf,
  type Planner,
} from '../../src/lab/cost-session.ts';
import type { Summarizer } from '../../src/memory/summary-request.ts';
import { findModel } from '../../src/tokens/catalog.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { promptLimitTokens } from '../../src/tokens/thresholds.ts';
import { agentFiles, readSessions } from '../memory/corpus.ts';
import { type BreakEven, breakEvensOf } from './break-even.ts';

/** A session with its name. */
export interface NamedSession {
  readonly name: string;
  readonly session: CostSession;
}

/** A shorter stretch has nothing to compact. */
const FEWEST_TURNS = 5;

const estimator = createTokenEstimator();

/** The stretches of all agent sessions whose file has `part` in its name. Sub-agents are sessions of their own. */
export async function readCostSessions(part: string): Promise<readonly NamedSession[]> {
  const found: NamedSession[] = [];
  for (const file of agentFiles().filter((one) => one.file.includes(part))) {
    for (const { session: name, recording } of await readSessions(file)) {
      // The same for all: instructions and tools of some of these agents would not fit the smaller window.
      const stretches = costSessionsOf(recording, { estimator, headTokens: ASSUMED_HEAD_TOKENS });
      found.push(
        ...stretches.map((session, index) => ({ name: `${name} ${session.title} ${index}`, session })),
      );
    }
  }
  return found.filter(({ session }) => session.turns.length >= FEWEST_TURNS);
}

/** A way to compact. */
interface NamedPolicy {
  readonly name: string;
  readonly strategy: string;
  readonly when: CostPolicy['when'];
  /** Whether a model writes the summaries, as most agents do it. */
  readonly asksModel: boolean;
}

/** The default as it is meant to be used. */
export const ADVISED = 'ladder, when advised';

/** Every way that is compared, besides none at all. */
export const costPolicies: readonly NamedPolicy[] = [
  { name: ADVISED, strategy: 'ladder', when: 'advice', asksModel: false },
  { name: 'ladder, at the trigger', strategy: 'ladder', when: 'trigger', asksModel: false },
  {
    name: 'clear-tool-results, at the trigger',
    strategy: 'clear-tool-results',
    when: 'trigger',
    asksModel: false,
  },
  { name: 'sliding-window, at the trigger', strategy: 'sliding-window', when: 'trigger', asksModel: false },
  { name: 'summarize, at the trigger', strategy: 'summarize', when: 'trigger', asksModel: false },
  { name: 'summarize by a model, at the trigger', strategy: 'summarize', when: 'trigger', asksModel: true },
];

/** What came of one session. */
export interface SessionCost {
  readonly session: string;
  /** Whether the session fits the window without any compaction. */
  readonly noneFits: boolean;
  readonly none: CostReplay;
  /** By the name of the policy. */
  readonly replays: Readonly<Record<string, CostReplay>>;
}

export interface CostRun {
  readonly model: string;
  readonly windowTokens: number;
  readonly sessions: readonly SessionCost[];
  readonly breakEvens: readonly BreakEven[];
}

export interface CostRunOptions {
  readonly model: string;
  readonly windowTokens: number;
  readonly targetShare: number;
}

/** Replays everything. */
export async function replayAll(
  sessions: readonly NamedSession[],
  { model, windowTokens, targetShare }: CostRunOptions,
): Promise<CostRun> {
  const info = findModel(model);
  const prices = priceSetOf(info ?? {});
  if (prices === undefined) throw new Error(`no prices for ${model}`);
  const options = { prices, windowTokens, estimator };
  const limit = promptLimitTokens(windowTokens);
  const costs: SessionCost[] = [];
  const breakEvens: BreakEven[] = [];
  for (const { name, session } of sessions) {
    const none = await replayCosts(session, undefined, options);
    const replays: [string, CostReplay][] = [];
    for (const policy of costPolicies) {
      const planner = plannerOf(policy, session, info?.bindsReasoning === true);
      replays.push([policy.name, await replayCosts(session, { ...policy, planner, targetShare }, options)]);
    }
    const noneFits = none.promptTokens.every((tokens) => tokens <= limit);
    costs.push({ session: name, noneFits, none, replays: Object.fromEntries(replays) });
    const planner = plannerOf({ strategy: 'ladder', asksModel: false }, session, false);
    breakEvens.push(...(await breakEvensOf(session, { prices, planner, targetShare })));
  }
  return { model, windowTokens, sessions: costs, breakEvens };
}

function plannerOf(
  { strategy, asksModel }: Pick<NamedPolicy, 'strategy' | 'asksModel'>,
  session: CostSession,
  bindsReasoning: boolean,
): Planner {
  const summarizer = asksModel ? pricedSummarizer(session) : defaultSummarizer;
  return { strategy: createStrategy(strategy), summarizer, estimator, bindsReasoning };
}

/** Stands for a model: the same words as the default, but billed as if a model had read the prompt and written them. */
function pricedSummarizer({ headTokens }: CostSession): Summarizer {
  return {
    name: 'model',
    asksModel: true,
    async summarize(request) {
      const outcome = await defaultSummarizer.summarize(request);
      if (outcome.status !== 'summarized') return outcome;
      const promptTokens = Math.round(headTokens + estimator.countMessages(request.conversation.messages));
      return { ...outcome, usage: { promptTokens, outputTokens: estimator.countText(outcome.text) } };
    },
  };
}
