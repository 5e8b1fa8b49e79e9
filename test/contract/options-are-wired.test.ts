import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { PriceSet } from '../../src/compaction/economics/costs.ts';
import { emptyLedger } from '../../src/compaction/economics/ledger.ts';
import type { Outcome } from '../../src/compaction/plan/strategy.ts';
import {
  createStrategy,
  initialAutoCompactState,
  notCompacted,
  type StrategyDefinition,
  strategies,
} from '../../src/compaction/strategies/index.ts';
import { integer, type OptionSpec } from '../../src/conversation/options.ts';
import {
  type CallOptions,
  type CompactionEvent,
  type CompactorOptions,
  changeOf,
  createCompactor,
  defineStrategy,
  type Strategy,
  type Summarizer,
  slidingWindow,
  writeConversation,
} from '../../src/index.ts';
import { anthropic, estimator, recording, toolRound } from '../support/small-sessions.ts';
import { strategyContext } from '../support/strategy-context.ts';

const definitions: readonly StrategyDefinition[] = strategies;

/** Something of everything that a strategy may look at. */
const everything = anthropic([
  { role: 'user', content: 'the task' },
  ...Array.from({ length: 8 }, (_one, index) => [
    { role: 'assistant', content: 'I look.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: `look at picture ${index}` },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGVsbG8=' } },
      ],
    },
  ]).flat(),
  ...Array.from({ length: 8 }, (_one, index) => [
    { role: 'assistant', content: [useOf(`r${index}`, { file_path: 'src/a.ts' })] },
    { role: 'user', content: [resultOf(`r${index}`, 'line of code\n'.repeat(2 + 10 * index))] },
    ...toolRound(`t${index}`, 300),
  ]).flat(),
  { role: 'assistant', content: 'done' },
  { role: 'user', content: 'and now?' },
]);

function useOf(id: string, input: object): unknown {
  return { type: 'tool_use', id, name: 'read_file', input };
}

function resultOf(id: string, content: string): unknown {
  return { type: 'tool_result', tool_use_id: id, content };
}

const runs = [500, 3000, 1_000_000].flatMap((targetTokens) =>
  (['auto', 'manual'] as const).map((trigger) => ({ targetTokens, trigger })),
);

/** All that a strategy does with the conversation above, in words that do not name its options. */
async function effectOf(create: () => Strategy): Promise<readonly string[]> {
  const effects: string[] = [];
  for (const run of runs) {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, ...run });
    const outcome = await create().compact(everything, context);
    const asked = requests.map(({ messages, instructions, maximumTokens }) => [
      messages.length,
      instructions,
      maximumTokens,
    ]);
    effects.push(JSON.stringify([outcome.status, asked, writtenBy(outcome)]));
  }
  return effects;
}

function writtenBy(outcome: Outcome): unknown {
  const change = changeOf(outcome);
  return change === undefined ? undefined : writeConversation(change.conversation);
}

/** Values that an option may have, far enough apart to make a difference. */
function valuesOf(spec: OptionSpec): readonly unknown[] {
  switch (spec.kind) {
    case 'integer':
    case 'number':
      return [0, 1, 2, 5, 100, 1000, 100_000].filter((value) => value >= spec.min && value <= spec.max);
    case 'flag':
      return [true, false];
    case 'text':
      return ['', 'Look after the ports.'];
    case 'choice':
      return spec.choices;
    case 'list':
      return [[], ['ask_expert']];
  }
}

/** Sets the numbers of all other options, since some options only matter beside certain values of others. */
function basesOf({ options }: StrategyDefinition): readonly Readonly<Record<string, unknown>>[] {
  const numbers = Object.entries(options).filter(([, { kind }]) => kind === 'integer' || kind === 'number');
  return [0, 1000, 4000].map((value) =>
    Object.fromEntries(
      numbers.map(([name, spec]) => [
        name,
        'min' in spec ? Math.min(Math.max(value, spec.min), spec.max) : value,
      ]),
    ),
  );
}

/** Whether some two values of an option make a difference. */
async function isWired(definition: StrategyDefinition, option: string): Promise<boolean> {
  const spec = definition.options[option];
  for (const base of [{}, ...basesOf(definition)]) {
    const effects = new Set<string>();
    for (const value of spec === undefined ? [] : valuesOf(spec)) {
      const defaults = Object.entries(definition.options).map(([name, one]) => [name, one.default]);
      const values = { ...Object.fromEntries(defaults), ...base, [option]: value };
      if (isRefused(() => definition(values))) continue;
      effects.add((await effectOf(() => definition(values))).join('\n'));
      if (effects.size > 1) return true;
    }
  }
  return false;
}

function isRefused(create: () => Strategy): boolean {
  try {
    create();
    return false;
  } catch {
    return true;
  }
}

describe('options of strategies', () => {
  const options = definitions.flatMap((definition) =>
    Object.keys(definition.options).map((option) => ({ definition, name: definition.name, option })),
  );

  it.each(options)('$option of $name makes a difference', async ({ definition, option }) => {
    expect(await isWired(definition, option)).toBe(true);
  });

  it('the check finds an option that does nothing', async () => {
    const dead = defineStrategy({
      name: 'dead',
      summary: 'ignores its option',
      options: { keepNothing: integer({ default: 1, help: 'ignored' }) },
      create: () => slidingWindow({ keepLast: 4 }),
    });

    expect(await isWired(dead, 'keepNothing')).toBe(false);
  });

  it.each(definitions)('$name takes its own defaults back as text', async ({ name, options: specs }) => {
    const texts = Object.entries(specs).map(([option, spec]) => [
      option,
      Array.isArray(spec.default) ? spec.default.join(',') : String(spec.default),
    ]);

    expect(await effectOf(() => createStrategy(name, Object.fromEntries(texts)))).toEqual(
      await effectOf(() => createStrategy(name)),
    );
  });
});

/** Long enough for any cache to expire. */
const PAUSE_SECONDS = 1_000_000;

describe('options of the compactor', () => {
  const plain = [
    { role: 'user', content: 'the task' },
    ...Array.from({ length: 40 }, (_one, index) => [
      { role: 'assistant', content: `answer ${index} ${'word '.repeat(400)}` },
      { role: 'user', content: `${index === 3 ? 'KEEP ' : ''}question ${index}` },
    ]).flat(),
  ];
  const small = { windowTokens: 16_000, strategy: 'summarize' };
  const paused = { ...initialAutoCompactState, pausedTurns: 5, reason: 'summary-upstream' };
  /** Between the target and the trigger, where money has a say. */
  const priced = {
    model: 'claude-sonnet-5-5',
    windowTokens: 80_000,
    strategy: 'token-budget',
    target: 5000,
  };
  /** Prices whose cache is still warm after the pause of these runs. */
  const warm: PriceSet = {
    prices: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
    cache: { writes: 'at-breakpoints', ttlSeconds: [10 * PAUSE_SECONDS] },
  };

  /** Needs longer for a summary than the shortest time there is. */
  const slow: Summarizer = {
    ...recording().summarizer,
    summarize: async () => {
      await sleep(50);
      return { status: 'summarized', text: 'what happened', usage: undefined };
    },
  };

  type Pair = readonly [CompactorOptions, CompactorOptions];
  /** Two settings of each option that must not come to the same. */
  const pairs: Readonly<Record<Exclude<keyof CompactorOptions, 'onEvent'>, Pair>> = {
    model: [{ model: 'gpt-4' }, { model: 'gpt-4o' }],
    windowTokens: [{ windowTokens: 16_000 }, { windowTokens: 0 }],
    format: [
      { ...small, format: 'openai-chat' },
      { ...small, format: 'anthropic-messages' },
    ],
    strategy: [{ ...small }, { ...small, strategy: slidingWindow({ keepLast: 20 }) }],
    options: [small, { ...small, options: { maxSummaryTokens: 100 } }],
    summarizer: [small, { ...small, summarizer: recording().summarizer }],
    pins: [small, { ...small, pins: { patterns: [/KEEP/] } }],
    trigger: [{ windowTokens: 200_000 }, { windowTokens: 200_000, trigger: 1000 }],
    target: [
      { ...small, strategy: 'token-budget' },
      { ...small, strategy: 'token-budget', target: 1000 },
    ],
    maxOutputTokens: [
      { ...small, windowTokens: 24_000, maxOutputTokens: 1 },
      { ...small, windowTokens: 24_000, maxOutputTokens: 6000 },
    ],
    countTokens: [small, { ...small, countTokens: () => 1 }],
    summarizerTimeout: [
      { ...small, summarizer: slow, summarizerTimeout: 1 },
      { ...small, summarizer: slow },
    ],
    now: [priced, { ...priced, now: () => 0 }],
    state: [small, { ...small, state: paused }],
    economy: [priced, { ...priced, economy: false }],
    prices: [priced, { ...priced, prices: warm }],
    ledger: [
      { ...priced, prices: warm },
      { ...priced, prices: warm, ledger: { ...emptyLedger, noneCost: 1 } },
    ],
  };

  /** What a compactor makes of a turn that comes long after the one before. */
  async function effectOfCompactor(options: CompactorOptions): Promise<string> {
    let turns = 0;
    const compactor = createCompactor({ now: () => turns++ * PAUSE_SECONDS * 1000, ...options });
    await compactor.maybeCompact(plain.slice(0, 3));
    const { value, outcome } = await compactor.maybeCompact(plain);
    return JSON.stringify([value, changeOf(outcome)?.conversation.format.name]);
  }

  it.each(Object.entries(pairs))('%s of createCompactor makes a difference', async (_name, [one, other]) => {
    expect(await effectOfCompactor(one)).not.toBe(await effectOfCompactor(other));
  });

  const abort = new AbortController();
  const calls: Readonly<Record<keyof CallOptions, CallOptions>> = {
    usage: { usage: { promptTokens: 25_000, outputTokens: 10 } },
    idleSeconds: { idleSeconds: PAUSE_SECONDS },
    signal: { signal: abort.signal },
  };

  it.each(Object.entries(calls))('%s of a call makes a difference', async (_name, call) => {
    const turn = async (given: CallOptions) => {
      const { requests, summarizer } = recording();
      const compactor = createCompactor({
        windowTokens: 40_000,
        strategy: 'summarize',
        summarizer,
        prices: warm,
      });
      const automatic = await compactor.maybeCompact(plain, given);
      const manual = await compactor.compact(plain, given);
      const signals = requests.map(({ signal }) => signal);
      return [automatic.outcome.reason, manual.outcome.status, manual.advice?.verdict, signals];
    };

    expect(await turn(call)).not.toEqual(await turn({}));
  });

  it('every event is told', async () => {
    const types: Readonly<Record<CompactionEvent['type'], true>> = {
      'compaction-start': true,
      'compaction-end': true,
      'compaction-advice': true,
      'token-warning': true,
      'compaction-paused': true,
      'summarizer-failed': true,
      'summarizer-paused': true,
    };
    const heard = new Set<string>();
    const onEvent = ({ type }: CompactionEvent) => heard.add(type);
    const silent = { ...small, summarizer: recording(() => '').summarizer };
    const broken = { ...small, strategy: failing };
    for (const options of [silent, broken]) {
      const compactor = createCompactor({ ...options, onEvent });
      for (let turn = 0; turn < 4; turn++) await compactor.maybeCompact(plain);
    }
    await createCompactor({ ...priced, onEvent }).maybeCompact(plain, { idleSeconds: PAUSE_SECONDS });

    expect([...heard].sort()).toEqual(Object.keys(types).sort());
  });
});

const failing: Strategy = {
  name: 'failing',
  compact: async () => notCompacted('failed', 'a-bug', 'it does not work'),
};
