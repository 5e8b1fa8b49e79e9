import { createCompactor } from '../../compaction/compactor.ts';
import { type BilledTokens, costOf, type PriceSet, priceSetOf } from '../../compaction/economics/costs.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { readConversation } from '../../formats/registry.ts';
import { askAnthropic } from '../../providers/anthropic.ts';
import { accountForCompaction, type CompactionAccount } from '../../report/compaction-account.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { findModel } from '../../tokens/catalog.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import { demoTools, openWorkspace, type Workspace } from './project.ts';
import {
  type DemoSession,
  type DemoStep,
  demoSystem,
  type Survived,
  scriptOf,
  whatSurvived,
} from './session.ts';

/** A request as the provider saw it. */
interface DemoRequest {
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

/** Is told how a run goes on. The run waits for what it returns. */
export interface Audience {
  onRequest(step: number, promptTokens: number): Promise<void>;
  onCompaction(compaction: DemoCompaction): Promise<void>;
}

interface PlayOptions {
  readonly session: DemoSession;
  readonly windowTokens: number;
  readonly seed: number;
  readonly client: DemoClient;
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
  let nowMs = Date.UTC(2026, 0, 5);
  const simulator = await startSimulator({
    windowTokens: options.windowTokens,
    seed: options.seed,
    script: scriptOf(options.session),
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
  const { session, client, audience, signal } = options;
  const fitBody = createFitter(options);
  const workspace = openWorkspace(session.project);
  const requests: DemoRequest[] = [];
  const compactions: DemoCompaction[] = [];
  let messages: readonly unknown[] = [{ role: 'user', content: session.opening }];
  let answered: unknown;
  const endAt = (stepsDone: number, refusal?: Refusal): DemoRun => {
    const survived = whatSurvived(answered, session.steps.slice(0, stepsDone), workspace.changed());
    return { stepsDone, requests, compactions, refusal, survived };
  };
  for (const [index, step] of session.steps.entries()) {
    signal.throwIfAborted();
    const { body, account } = await fitBody(bodyOf(messages));
    if (account !== undefined) {
      compactions.push({ step: index + 1, account });
      await audience.onCompaction({ step: index + 1, account });
    }
    const { answer, refusal } = await ask(client, url, body, signal);
    const promptTokens = recorded.at(-1)?.promptTokens ?? 0;
    const cost = refusal === undefined ? costOf(listPrices, billedIn(answer)) : 0;
    requests.push({ promptTokens, compactions: compactions.length, cost });
    await audience.onRequest(index + 1, promptTokens);
    if (refusal !== undefined) return endAt(index, refusal);
    answered = body['messages'];
    const said = { role: 'assistant', content: answer['content'] };
    messages = [...asList(answered), said, ...goOn(step, callsIn(answer), workspace)];
  }
  return endAt(session.steps.length);
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

/** What keeps requests inside the window, and accounts for it: roundfold as anybody would use it, or nothing. */
function createFitter({
  isCompacting,
  windowTokens,
  signal,
}: PlayOptions): (
  body: JsonObject,
) => Promise<{ readonly body: JsonObject; readonly account?: CompactionAccount }> {
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

async function ask(
  client: DemoClient,
  url: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<{ readonly answer: JsonObject; readonly refusal?: Refusal }> {
  try {
    return { answer: asObject(await client.send(url, body, signal)) };
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
  calls: ReturnType<typeof callsIn>,
  workspace: Workspace,
): readonly JsonObject[] {
  if (calls.length === 0) return reply === undefined ? [] : [{ role: 'user', content: reply }];
  const content = calls.map(({ id, name, input }) => {
    const { text, isError } = workspace.run(name, input);
    const failure = isError === true ? { is_error: true } : {};
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

/** Whoever speaks to the provider: sends request bodies of the Anthropic Messages API. */
export interface DemoClient {
  readonly name: string;
  /** Whether it is the provider's own. */
  readonly isSdk: boolean;
  /**
   * The answer as it came.
   * @throws whatever the client makes of a refusal; `refusalIn` reads it
   */
  send(baseUrl: string, body: JsonObject, signal: AbortSignal): Promise<unknown>;
}

/** What is needed of the SDK. */
type SdkConstructor = new (
  options: JsonObject,
) => {
  readonly messages: {
    create(body: JsonObject, options: { readonly signal: AbortSignal }): Promise<unknown>;
  };
};

/** No dependency of ours: used where it is installed, so the name must not look like an import to whoever bundles us. */
const SDK: string = '@anthropic-ai/sdk';

/** A made-up key, so that the SDK never sends a real one from the environment. */
const API_KEY = 'demo';

/** The Anthropic SDK where it is installed, else a client of our own. */
export async function findClient(): Promise<DemoClient> {
  try {
    const module: unknown = await import(SDK);
    const found = isObject(module) ? module['default'] : undefined;
    return typeof found === 'function' ? sdkClient(found as SdkConstructor) : ownClient; // what its documentation promises
  } catch {
    return ownClient;
  }
}

function sdkClient(Sdk: SdkConstructor): DemoClient {
  const options = { apiKey: API_KEY, maxRetries: 0, logLevel: 'off', openTelemetry: false };
  return {
    name: 'the Anthropic SDK',
    isSdk: true,
    send: (baseURL, body, signal) => new Sdk({ ...options, baseURL }).messages.create(body, { signal }),
  };
}

const ownClient: DemoClient = {
  name: "roundfold's own client",
  isSdk: false,
  send: async (baseUrl, body, signal) => {
    const options = { model: DEMO_MODEL, baseUrl, apiKey: API_KEY };
    return (await askAnthropic(options, body, { signal })).message;
  },
};

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** How the provider refused. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** The provider's own words in the error of either client; undefined when it is no refusal. */
function refusalIn(thrown: unknown): Refusal | undefined {
  if (!isObject(thrown)) return undefined;
  // The SDK keeps status and body in the error itself, our client in its cause.
  const holder = isObject(thrown['cause']) ? thrown['cause'] : thrown;
  const body = isObject(holder['body']) ? holder['body'] : asObject(holder['error']);
  const error = asObject(body['error']);
  const status = asCount(holder['status']);
  const message = asString(error['message']);
  return status === 0 || message === undefined
    ? undefined
    : { status, type: asString(error['type']) ?? 'error', message };
}

/** The calls in an answer. */
function callsIn(answer: JsonObject) {
  return asList(answer['content'])
    .filter(isObject)
    .filter((block) => block['type'] === 'tool_use')
    .map(({ id, name, input }) => ({
      id: asString(id) ?? '',
      name: asString(name) ?? '',
      input: asObject(input),
    }));
}

/** The model whose name, window and prices the demo uses. The provider runs on this machine. */
export const DEMO_MODEL = 'claude-sonnet-5';

/** Its list prices. */
const listPrices: PriceSet = priceSetOf(findModel(DEMO_MODEL) ?? {}) ?? {
  prices: { input: 0, output: 0 },
};
