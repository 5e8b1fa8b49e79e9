import { createCompactor } from '../../compaction/compactor.ts';
import { type BilledTokens, costOf } from '../../compaction/economics/costs.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { asCount, asList, isObject, type JsonObject } from '../../conversation/json.ts';
import { readConversation } from '../../formats/registry.ts';
import { accountForCompaction, type CompactionAccount } from '../../report/compaction-account.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import {
  type AnsweredCall,
  type ClientMaker,
  callsIn,
  type DemoClient,
  type Refusal,
  refusalIn,
} from './client.ts';
import { DEMO_MODEL, listPrices } from './model.ts';
import { type DemoSession, type DemoStep, demoSystem, scriptOf } from './session.ts';
import { type Survived, whatSurvived } from './survived.ts';
import { demoTools, openWorkspace, type Workspace } from './workspace.ts';

/** A request as the provider saw it. */
export interface DemoRequest {
  readonly promptTokens: number;
  /** Compactions before it. */
  readonly compactions: number;
  /** In USD, by list prices; a request that was refused costs nothing. */
  readonly cost: number;
}

/** A compaction, and before which step it was. */
export interface DemoCompaction {
  readonly step: number;
  readonly account: CompactionAccount;
}

/** What came of playing the session once. */
export interface DemoRun {
  readonly stepsDone: number;
  readonly requests: readonly DemoRequest[];
  readonly compactions: readonly DemoCompaction[];
  /** How the provider ended it; undefined when the session came to its end. */
  readonly refusal: Refusal | undefined;
  /** What of the work until then is in the last request that was answered. */
  readonly survived: Survived;
}

/** Is told how a run goes on. What it gives back is waited for. */
export interface Audience {
  onRequest(step: number, promptTokens: number): Promise<void>;
  onCompaction(compaction: DemoCompaction): Promise<void>;
}

export interface PlayOptions {
  readonly session: DemoSession;
  readonly windowTokens: number;
  readonly seed: number;
  readonly maker: ClientMaker;
  readonly isCompacting: boolean;
  readonly audience: Audience;
  readonly signal: AbortSignal;
}

/** Seconds between requests by the provider's clock: its prompt cache shall not depend on how fast this machine is. */
const STEP_SECONDS = 8;

/**
 * Plays the session once against a provider of its own, until its end or the first refusal.
 * @throws the signal's reason when it is aborted; the provider has ended by then
 */
export async function playSession(options: PlayOptions): Promise<DemoRun> {
  const { session, windowTokens, seed } = options;
  let nowMs = Date.UTC(2026, 0, 5);
  const simulator = await startSimulator({
    windowTokens,
    seed,
    script: scriptOf(session),
    now: () => nowMs,
    onRequest: () => {
      nowMs += STEP_SECONDS * 1000;
    },
  });
  try {
    return await play(options, simulator);
  } finally {
    await simulator.close();
  }
}

async function play(options: PlayOptions, { url, requests: recorded }: Simulator): Promise<DemoRun> {
  const { session, maker, audience, signal } = options;
  const fitBody = createFitter(options);
  const client = maker.connect(url);
  const workspace = openWorkspace(session.project);
  const requests: DemoRequest[] = [];
  const compactions: DemoCompaction[] = [];
  let messages: readonly unknown[] = [{ role: 'user', content: session.opening }];
  let answered: unknown;
  for (const [index, step] of session.steps.entries()) {
    signal.throwIfAborted();
    const { body, account } = await fitBody(bodyOf(messages));
    if (account !== undefined) {
      compactions.push({ step: index + 1, account });
      await audience.onCompaction({ step: index + 1, account });
    }
    const { answer, refusal } = await ask(client, body, signal);
    const promptTokens = recorded.at(-1)?.promptTokens ?? 0;
    const cost = refusal === undefined ? costOf(listPrices, billedIn(answer)) : 0;
    requests.push({ promptTokens, compactions: compactions.length, cost });
    await audience.onRequest(index + 1, promptTokens);
    if (refusal !== undefined) {
      const survived = whatSurvived(answered, session.steps.slice(0, index), workspace.changed);
      return { stepsDone: index, requests, compactions, refusal, survived };
    }
    answered = body['messages'];
    const said = { role: 'assistant', content: answer['content'] };
    messages = [...asList(answered), said, ...goOn(step, callsIn(answer), workspace)];
  }
  const survived = whatSurvived(answered, session.steps, workspace.changed);
  return { stepsDone: session.steps.length, requests, compactions, refusal: undefined, survived };
}

function bodyOf(messages: readonly unknown[]): JsonObject {
  return {
    model: DEMO_MODEL,
    max_tokens: 1024,
    cache_control: { type: 'ephemeral' },
    system: demoSystem,
    tools: demoTools,
    messages,
  };
}

/** A body that fits, and an account of what was done for it. */
interface Fitted {
  readonly body: JsonObject;
  readonly account?: CompactionAccount | undefined;
}

/** What keeps requests inside the window: roundfold as anybody would use it, or nothing. */
function createFitter({
  isCompacting,
  windowTokens,
  signal,
}: PlayOptions): (body: JsonObject) => Promise<Fitted> {
  if (!isCompacting) return async (body) => ({ body });
  const compactor = createCompactor({ model: DEMO_MODEL, windowTokens });
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(DEMO_MODEL) });
  const { targetTokens } = compactor.thresholds;
  return async (body) => {
    const { value, outcome } = await compactor.maybeCompact(body, { signal });
    const change = changeOf(outcome);
    if (change === undefined) return { body };
    const told = { ...change, reason: outcome.reason };
    const account = accountForCompaction(readConversation(body), told, { estimator, targetTokens });
    return { body: value, account };
  };
}

interface Asked {
  readonly answer: JsonObject;
  readonly refusal?: Refusal | undefined;
}

async function ask(client: DemoClient, body: JsonObject, signal: AbortSignal): Promise<Asked> {
  try {
    return { answer: await client.send(body, signal) };
  } catch (error) {
    signal.throwIfAborted();
    const refusal = refusalIn(error);
    if (refusal === undefined) throw error;
    return { answer: {}, refusal };
  }
}

/** The results of calls, or what the user says to an answer without any. */
function goOn(
  { reply }: DemoStep,
  calls: readonly AnsweredCall[],
  workspace: Workspace,
): readonly JsonObject[] {
  if (calls.length === 0) return reply === undefined ? [] : [{ role: 'user', content: reply }];
  const content = calls.map(({ id, name, input }) => {
    const { text, isError } = workspace.run(name, input);
    const failure = isError ? { is_error: true } : {};
    return { type: 'tool_result', tool_use_id: id, content: text, ...failure };
  });
  return [{ role: 'user', content }];
}

function billedIn({ usage }: JsonObject): BilledTokens {
  const counts = isObject(usage) ? usage : {};
  return {
    readTokens: asCount(counts['cache_read_input_tokens']),
    writtenTokens: asCount(counts['cache_creation_input_tokens']),
    uncachedTokens: asCount(counts['input_tokens']),
    outputTokens: asCount(counts['output_tokens']),
  };
}
