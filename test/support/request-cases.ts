import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  type CompactionRun,
  type CompactionSettings,
  compactorUnderTest,
  runCompactCommand,
  strategyNames,
  tokensOf,
} from './compaction-under-test.ts';
import { deepFreeze } from './deep-freeze.ts';
import {
  appendTo,
  type BodyChoice,
  type Breakage,
  bodyChoices,
  breakages,
  breakBody,
  listOf,
  type RandomConversation,
  writeConversationOf,
} from './random-bodies.ts';
import { currentTurnStart } from './raw-messages.ts';
import { type Fault, pairFaults, refusals, sharedIds } from './request-judge.ts';

/** A conversation and what is done with it. */
export interface RequestCase extends BodyChoice {
  readonly strategy: string;
  readonly isEager: boolean;
  /** The target as a share of the request; infinite where nothing needs to go, undefined where nobody says. */
  readonly share: number | undefined;
  /** How full the window is. */
  readonly fill: number;
  /** Whether the chain goes on from automatic runs. */
  readonly isAutomatic: boolean;
  /** Set for a body that is broken and given to the command. */
  readonly breakage: Breakage | undefined;
}

/** Which cases to make. Default: all. */
export interface CaseFilter {
  readonly formats: readonly string[];
  readonly strategies?: readonly string[] | undefined;
}

/** Cases of these formats, with every strategy and every budget. A sixth of them is broken. */
export function requestCases({ formats, strategies = strategyNames }: CaseFilter): fc.Arbitrary<RequestCase> {
  return fc
    .tuple(
      bodyChoices(formats),
      fc.record({
        strategy: fc.constantFrom(...strategies),
        isEager: fc.boolean(),
        share: fc.constantFrom(0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, Number.POSITIVE_INFINITY, undefined),
        fill: fc.constantFrom(0.3, 0.6, 0.9, 0.97, 0.99, 1.2),
        isAutomatic: fc.boolean(),
        breakage: fc.oneof(
          { weight: 5, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: breakages },
        ),
      }),
    )
    .map(([choice, run]) => ({ ...choice, ...run }));
}

/** Strategies that changed a request so far. */
export const actedStrategies = new Set<string>();

/** A fault with the request it was found in. */
export interface CaseFault extends Fault {
  /** Which request of the conversation, from 1. */
  readonly link: number;
  readonly windowTokens: number | undefined;
  readonly targetTokens: number | undefined;
  readonly before: unknown;
  /** Undefined where nothing came out. */
  readonly after: unknown;
}

/** Compacts the case as often as it has requests, and says which properties did not hold. */
export async function faultsOfCase(one: RequestCase): Promise<readonly CaseFault[]> {
  const conversation = writeConversationOf(one);
  return one.breakage === undefined
    ? chainFaults(one, conversation)
    : commandFaults(one, conversation, one.breakage);
}

/** The chain ends early only where the next request would not be a legal one. */
async function chainFaults(
  one: RequestCase,
  { format, body, additions }: RandomConversation,
): Promise<readonly CaseFault[]> {
  const illegal = await refusals(format, body);
  if (illegal.length > 0) throw new Error(`the generator wrote an illegal body: ${illegal.join('; ')}`);
  const found: CaseFault[] = [];
  let before = body;
  for (const [index, added] of [...additions, []].entries()) {
    const { faults, after, settings } = await runLink(one, before);
    const { windowTokens, targetTokens } = settings;
    found.push(
      ...faults.map((fault) => ({ ...fault, link: index + 1, windowTokens, targetTokens, before, after })),
    );
    if (faults.some(({ property }) => property === 'legal' || property === 'answers')) break;
    before = deepFreeze(appendTo(format, after, added));
  }
  return found;
}

interface Link {
  readonly faults: readonly Fault[];
  /** What the chain goes on from. */
  readonly after: unknown;
  readonly settings: CompactionSettings;
}

/** One request: compacted by hand and, where a trigger is told, by itself. */
async function runLink(one: RequestCase, request: unknown): Promise<Link> {
  const settings = settingsOf(one, request);
  const isTriggered = settings.triggerTokens !== undefined;
  const tried = await attempt(async () => ({
    manual: await compactorUnderTest(settings).manually(request),
    automatic: isTriggered ? await compactorUnderTest(settings).automatically(request) : undefined,
  }));
  if ('fault' in tried) return { faults: [tried.fault], after: undefined, settings };
  const { manual, automatic } = tried.value;
  const run = one.isAutomatic && automatic !== undefined ? automatic : manual;
  if (run.value !== request) actedStrategies.add(one.strategy);
  const faults = [
    ...(await resultFaults(one, request, run, settings)),
    ...(automatic === undefined ? [] : pathFaults(manual, automatic)),
  ];
  return { faults, after: run.value, settings };
}

function settingsOf(
  { format, strategy, isEager, share, fill }: RequestCase,
  request: unknown,
): CompactionSettings {
  const size = tokensOf(format, request);
  const windowTokens = Math.max(100, Math.ceil(size / fill));
  const common = { format, strategy, isEager, windowTokens };
  if (share === undefined) return common;
  if (share === Number.POSITIVE_INFINITY) return { ...common, windowTokens: 0 };
  const wanted = Math.floor(Math.min(size, windowTokens / 2 - 1) * share);
  // One would be the whole window: up to 1 it is a share.
  const targetTokens = wanted === 1 ? 2 : wanted;
  return { ...common, targetTokens, triggerTokens: targetTokens + 1 };
}

async function attempt<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly fault: Fault }> {
  try {
    return { value: await work() };
  } catch (error) {
    const detail =
      error instanceof Error
        ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' ')
        : String(error);
    return { fault: { property: 'answers', detail } };
  }
}

/** Share of the window up to which a request is sure to fit, whoever counts. */
const FITTING_FRACTION = 0.95;

async function resultFaults(
  { format }: RequestCase,
  before: unknown,
  { value: after }: CompactionRun,
  { windowTokens }: CompactionSettings,
): Promise<readonly Fault[]> {
  if (after === before) return [];
  const illegal = [...(await refusals(format, after)), ...sharedIds(format, after)];
  const list = listOf(format, before);
  const turn = list.slice(currentTurnStart(list));
  // It may be shortened where it does not fit beside what has to stay: instructions, tools, what is pinned.
  const end = listOf(format, after).slice(-turn.length);
  const whole = tokensOf(format, after) - tokensOf(format, end) + tokensOf(format, turn);
  const isOversized = windowTokens > 0 && whole > windowTokens * FITTING_FRACTION;
  return [
    ...(illegal.length === 0 ? [] : [{ property: 'legal', detail: illegal.join('; ') } as const]),
    ...pairFaults({ format, before, after, isOversized }),
  ];
}

/** Runs may differ in whether they run, never in what they keep. */
function pathFaults(manual: CompactionRun, automatic: CompactionRun): readonly Fault[] {
  if (automatic.status === 'skipped' && automatic.reason === 'below-trigger') return [];
  if (manual.value === automatic.value || isDeepStrictEqual(manual.value, automatic.value)) return [];
  const sizes = [manual, automatic].map(
    ({ value, status, reason }) => `${status} (${reason}), ${JSON.stringify(value).length} bytes`,
  );
  return [{ property: 'one-path', detail: `by hand ${sizes[0]}; by itself ${sizes[1]}` }];
}

async function commandFaults(
  { format, strategy, share = 1 }: RequestCase,
  conversation: RandomConversation,
  breakage: Breakage,
): Promise<readonly CaseFault[]> {
  const before = breakBody(conversation, breakage);
  const budget = `${(Math.min(1, Math.max(0.01, share)) * 100).toFixed(0)}%`;
  const tried = await attempt(() => runCompactCommand(before, { format, strategy, budget }));
  const place = { link: 1, windowTokens: undefined, targetTokens: undefined, before };
  if ('fault' in tried) return [{ ...tried.fault, ...place, after: undefined }];
  const { code, value: after, talk } = tried.value;
  const illegal =
    code === 0 || code === 4 ? await refusals(format, after) : [`it ended with ${code}: ${talk}`];
  return illegal.length === 0 ? [] : [{ property: 'repaired', detail: illegal.join('; '), ...place, after }];
}
