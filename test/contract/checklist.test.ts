import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import {
  afterOutcome,
  afterTurn,
  COOL_DOWN_TURNS,
  initialAutoCompactState,
  shouldAutoCompact,
} from '../../src/core/auto-compact.ts';
import {
  shouldCompact,
  shouldContextCollapse,
  thresholdsFor,
  tokenWarningState,
} from '../../src/core/budget.ts';
import { type Conversation, withMessages, writeConversation } from '../../src/core/format.ts';
import type { Message } from '../../src/core/message.ts';
import { requestTokens } from '../../src/core/receipt.ts';
import { groupRounds } from '../../src/core/rounds.ts';
import { safeSplitPoint } from '../../src/core/split.ts';
import { type Compacted, notCompacted, type Outcome, type Strategy } from '../../src/core/strategy.ts';
import type { Summarizer, SummaryRequest } from '../../src/core/summarizer.ts';
import { readSummaryMessage } from '../../src/core/summary-message.ts';
import { tailStart } from '../../src/core/tail.ts';
import { createTokenEstimator } from '../../src/core/token-estimator.ts';
import { measureContext } from '../../src/core/tokens.ts';
import { anthropicMessages } from '../../src/formats/anthropic-messages.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { createStrategy, strategies } from '../../src/strategies/registry.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { messagesOfShape } from '../../src/testing/shapes.ts';
import { type Step, steps, writers } from '../support/conversations.ts';
import { countingSummarizer, strategyContext } from '../support/strategy-context.ts';

/** One token for each character, three for each message. */
const estimator = createTokenEstimator({ countText: (text) => text.length });

function shaped(shape: string): Conversation {
  return anthropicMessages.read(deepFreeze(messagesOfShape(shape).map(({ raw }) => raw)));
}

/** A call and its result of so many tokens. */
function toolRound(id: string, size = 500, name = 'ask_expert') {
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(size) }] },
  ];
}

function toolSession(rounds: number, size?: number): Conversation {
  const list = Array.from({ length: rounds }, (_one, index) => toolRound(`t${index}`, size)).flat();
  return anthropicMessages.read(deepFreeze([{ role: 'user', content: 'the task' }, ...list]));
}

/** A summarizer that keeps what it was asked. */
function recording(answer: (request: SummaryRequest) => string = () => 'what happened') {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    ...countingSummarizer,
    async summarize(request) {
      requests.push(request);
      return { status: 'summarized', text: answer(request), usage: undefined };
    },
  };
  return { requests, summarizer };
}

function rawsOf({ messages }: Conversation): readonly unknown[] {
  return messages.map(({ raw }) => raw);
}

function summariesIn({ messages }: Conversation): readonly string[] {
  return messages.map(readSummaryMessage).filter((summary) => summary !== undefined);
}

function expectCompacted(outcome: Outcome): Compacted {
  expect(outcome).toMatchObject({ status: 'compacted' });
  if (outcome.status !== 'compacted') throw new Error(outcome.message);
  return outcome;
}

function errorsOf({ format }: Conversation, value: unknown): number {
  const violations = findContract(format.name)?.check(value, { scope: 'messages' }) ?? [];
  return violations.filter(({ severity }) => severity === 'error').length;
}

const created: readonly Strategy[] = strategies.map(({ name }) => createStrategy(name));

describe('strategies (rows 46 to 58)', () => {
  it.each(created)(
    'row 46: $name takes a conversation and a context and answers with an outcome',
    async (strategy) => {
      const outcome = await strategy.compact(
        toolSession(30),
        strategyContext({ estimator, targetTokens: 5000 }),
      );

      expect(['compacted', 'skipped', 'insufficient', 'failed']).toContain(outcome.status);
      expect(outcome.reason).toMatch(/\w/);
      if (outcome.status !== 'compacted') expect(outcome.message).toMatch(/\w/);
    },
  );

  it('row 47: none is the identity', async () => {
    const conversation = toolSession(30);
    const outcome = await createStrategy('none').compact(conversation, strategyContext({ targetTokens: 1 }));

    expect(outcome).toEqual({
      status: 'skipped',
      reason: 'off',
      message: expect.any(String),
      usage: undefined,
    });
  });

  it.each([
    { shape: 'uaua', keepLast: 10, left: undefined },
    { shape: 'uauau', keepLast: 2, left: 3 },
    { shape: 'uaucrau', keepLast: 3, left: 5 },
  ])(
    'row 48: sliding-window keeps the last $keepLast of $shape and parts no pair',
    async ({ shape, keepLast, left }) => {
      const conversation = shaped(shape);
      const outcome = await createStrategy('sliding-window', { keepLast }).compact(
        conversation,
        strategyContext(),
      );

      if (left === undefined) expect(outcome.status).toBe('skipped');
      else {
        const after = expectCompacted(outcome).conversation;
        expect(after.messages.length).toBe(left);
        expect(errorsOf(after, writeConversation(after))).toBe(0);
      }
    },
  );

  it('row 49: summarize acts from its threshold on, keeps the newest, follows instructions, and is forced by hand', async () => {
    const { requests, summarizer } = recording();
    const run = (options: object, trigger: 'auto' | 'manual' = 'auto') =>
      createStrategy('summarize', { keepRecent: 0, ...options }).compact(
        toolSession(10),
        strategyContext({ estimator, summarizer, trigger, targetTokens: 3000 }),
      );

    expect(await run({ threshold: 100_000 })).toMatchObject({ status: 'skipped' });
    expect((await run({ threshold: 100 })).status).toBe('compacted');
    expect((await run({ threshold: 0, instructions: 'look after ports' })).status).toBe('compacted');
    expect((await run({ threshold: 100_000 }, 'manual')).status).toBe('compacted');
    expect(requests.map(({ instructions }) => instructions)).toEqual([
      undefined,
      'look after ports',
      undefined,
    ]);
  });

  it.each([
    ['uau', [0, 0, 2, 3, 3]],
    ['uaucra', [0, 0, 2, 2, 2, 2, 6, 6]],
    ['ra', [0, 0, 2, 2]],
    ['u', [0, 1, 1]],
    ['ucrau', [0, 0, 0, 0, 4, 5, 5]],
    ['uuuu', [0, 1, 2, 3, 4, 4]],
    ['ucrcrcrcrcr', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 11]],
  ] as const)('row 51: safeSplitPoint of %s is %j', (shape, points) => {
    expect(points.map((_point, desired) => safeSplitPoint(messagesOfShape(shape), desired))).toEqual(points);
  });

  it.each(['ladder', 'summarize', 'token-budget', 'snip', 'sliding-window', 'collapse'])(
    'row 52: %s makes a session of one question and many tool rounds smaller',
    async (name) => {
      const conversation = toolSession(30);
      const context = strategyContext({ estimator, targetTokens: 9000 });
      const { conversation: after, receipt } = expectCompacted(
        await createStrategy(name).compact(conversation, context),
      );

      expect(receipt.tokensAfter).toBeLessThan(receipt.tokensBefore);
      expect(after.messages[0]?.raw).toBe(conversation.messages[0]?.raw);
      expect(errorsOf(after, writeConversation(after))).toBe(0);
    },
  );

  it.each([
    { options: { budget: 3000 }, sizeOf: (after: Conversation) => requestTokens(after, estimator) },
    {
      options: { budget: 3000, unit: 'bytes' },
      sizeOf: (after: Conversation) =>
        rawsOf(after).reduce<number>((sum, raw) => sum + JSON.stringify(raw).length, 0),
    },
  ])('row 53: token-budget brings a conversation below $options', async ({ options, sizeOf }) => {
    const outcome = await createStrategy('token-budget', options).compact(
      toolSession(30),
      strategyContext({ estimator }),
    );

    expect(sizeOf(expectCompacted(outcome).conversation)).toBeLessThanOrEqual(3000);
  });

  it("row 55: a summary is a user's message that begins with “[earlier conversation summary]”", async () => {
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const after = expectCompacted(
      await createStrategy('summarize').compact(toolSession(30), context),
    ).conversation;
    const [message] = after.messages.filter((one) => readSummaryMessage(one) !== undefined);

    expect(message?.role).toBe('user');
    expect(message?.blocks[0]).toMatchObject({
      text: expect.stringMatching(/^\[earlier conversation summary\]\n/),
    });
  });

  const refusals: readonly (readonly [string, () => ReturnType<Summarizer['summarize']>])[] = [
    [
      'says that it failed',
      async () => ({ status: 'failed', reason: 'upstream', message: 'down', usage: undefined }),
    ],
    ['throws', () => Promise.reject(new Error('down'))],
  ];

  it.each(refusals)(
    'row 56: a summarizer that %s leaves the conversation as it was',
    async (_how, summarize) => {
      const conversation = toolSession(30);
      const before = JSON.stringify(conversation.frame.body);
      const summarizer = { ...countingSummarizer, summarize };
      const outcome = await createStrategy('summarize').compact(
        conversation,
        strategyContext({ estimator, targetTokens: 5000, summarizer }),
      );

      expect(outcome).toMatchObject({ status: 'failed', message: expect.stringContaining('down') });
      expect(JSON.stringify(writeConversation(conversation))).toBe(before);
    },
  );

  it.each(['', ' \n '])('row 57: the empty summary %j is a failure', async (text) => {
    const { summarizer } = recording(() => text);
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });

    expect((await createStrategy('summarize').compact(toolSession(30), context)).status).toBe('failed');
  });

  it('row 58: one compaction asks for one summary', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
    expectCompacted(await createStrategy('summarize').compact(toolSession(30), context));

    expect(requests.length).toBe(1);
  });
});

describe('turns (rows 61 to 69)', () => {
  it.each(created)('row 61: $name leaves every byte where nothing is due', async (strategy) => {
    const conversation = toolSession(4);
    const outcome = await strategy.compact(
      conversation,
      strategyContext({ estimator, targetTokens: 1_000_000, trigger: 'auto' }),
    );

    expect(outcome.status).toBe('skipped');
    expect(writeConversation(conversation)).toBe(conversation.frame.body);
  });

  it('row 61: what stands before the first change is the very same afterwards', async () => {
    const body = deepFreeze({ system: 'rules', tools: [], messages: rawsOf(toolSession(30)) });
    const context = strategyContext({ estimator, targetTokens: 5000 });
    const outcome = expectCompacted(
      await createStrategy('summarize').compact(anthropicMessages.read(body), context),
    );
    const written = writeConversation(outcome.conversation) as typeof body;

    expect(written.system).toBe(body.system);
    expect(written.tools).toBe(body.tools);
    expect(written.messages[0]).toBe(body.messages[0]);
  });

  it('row 62: sixty turns below the threshold ask for nothing', async () => {
    const { requests, summarizer } = recording();
    const strategy = createStrategy('ladder');
    for (let turn = 1; turn <= 60; turn++) {
      const context = strategyContext({ estimator, summarizer, targetTokens: 60_000, trigger: 'auto' });
      expect(await strategy.compact(toolSession(turn), context)).toMatchObject({ status: 'skipped' });
    }

    expect(requests).toEqual([]);
  });

  it('row 64: sliding keeps six', async () => {
    const conversation = shaped('uauauauauauau');
    const outcome = await createStrategy('sliding-window', { keepLast: 6 }).compact(
      conversation,
      strategyContext(),
    );
    const kept = rawsOf(expectCompacted(outcome).conversation);

    expect(kept.slice(-6)).toEqual(rawsOf(conversation).slice(-6));
    expect(kept.length).toBe(7);
  });

  it('row 65: summarize by hand needs no pressure and keeps four rounds', async () => {
    const conversation = toolSession(12);
    const outcome = await createStrategy('summarize', { keepRounds: 4, keepRecent: 0 }).compact(
      conversation,
      strategyContext({ estimator, targetTokens: 1_000_000, trigger: 'manual' }),
    );

    expect(rawsOf(expectCompacted(outcome).conversation).slice(-8)).toEqual(rawsOf(conversation).slice(-8));
    expect(expectCompacted(outcome).receipt.messagesAfter).toBe(10);
  });

  it('row 69: forty tool rounds after one question take three summaries at most, none of a lone summary', async () => {
    const { requests, summarizer } = recording();
    const strategy = createStrategy('summarize');
    const context = strategyContext({ estimator, summarizer, targetTokens: 10_000, trigger: 'auto' });
    let conversation = toolSession(0);
    for (let index = 0; index < 40; index++) {
      const grown = toolRound(`t${index}`).map((raw) => anthropicMessages.readMessage(raw));
      conversation = withMessages(conversation, [...conversation.messages, ...grown]);
      if (requestTokens(conversation, estimator) <= context.targetTokens) continue;
      conversation = expectCompacted(await strategy.compact(conversation, context)).conversation;
    }

    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThanOrEqual(3);
    expect(requests.every(({ messages }) => messages.length > 2)).toBe(true);
    expect(summariesIn(conversation).length).toBe(1);
    expect(requestTokens(conversation, estimator)).toBeLessThanOrEqual(context.targetTokens);
    expect(errorsOf(conversation, writeConversation(conversation))).toBe(0);
  });

  it('row 69: the same conversation compacted again asks for nothing', async () => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'manual' });
    const strategy = createStrategy('summarize');
    const once = expectCompacted(await strategy.compact(toolSession(30), context)).conversation;

    expect(await strategy.compact(once, context)).toMatchObject({ status: 'skipped', reason: 'nothing-old' });
    expect(requests.length).toBe(1);
  });
});

describe('automatic compaction (rows 70 to 81)', () => {
  const failed = notCompacted('failed', 'summary-upstream', 'down');

  it('row 70: the state counts compactions and failures, and a success clears the failures', async () => {
    const success = await createStrategy('snip', { keepRounds: 1 }).compact(
      toolSession(5),
      strategyContext(),
    );
    const twice = [failed, failed].reduce(afterOutcome, initialAutoCompactState);

    expect(twice).toMatchObject({ consecutiveFailures: 2, pausedTurns: 0 });
    expect(afterOutcome(twice, success)).toMatchObject({ compactionCount: 1, consecutiveFailures: 0 });
  });

  it('row 71: what a compaction freed is counted without its summary', async () => {
    const context = (text: string) =>
      strategyContext({ estimator, targetTokens: 5000, summarizer: recording(() => text).summarizer });
    const freed = async (text: string) => {
      const outcome = await createStrategy('summarize').compact(toolSession(30), context(text));
      const { tokensBefore, tokensAfter, messagesBefore } = expectCompacted(outcome).receipt;
      expect(messagesBefore).toBe(61);
      return tokensBefore - tokensAfter;
    };

    expect((await freed('s'.repeat(10))) - (await freed('s'.repeat(1010)))).toBe(1000);
  });

  it.each([
    { trigger: 'auto', status: 'insufficient' },
    { trigger: 'manual', status: 'compacted' },
    { trigger: 'overflow', status: 'compacted' },
  ] as const)(
    'row 73: a floor above the target is $status for the trigger $trigger',
    async ({ trigger, status }) => {
      const context = strategyContext({ estimator, targetTokens: 100, trigger });

      expect((await createStrategy('summarize').compact(toolSession(30), context)).status).toBe(status);
    },
  );

  it.each([
    [50_000, 'ok'],
    [100_000, 'ok'],
    [160_000, 'warning'],
    [170_000, 'warning'],
    [190_000, 'critical'],
    [192_000, 'critical'],
    [196_000, 'critical'],
  ] as const)(
    'rows 74 and 76: %d of 200,000 tokens are %s, and nothing is without a limit',
    (tokens, level) => {
      expect(tokenWarningState(tokens, 200_000)).toBe(level);
      expect(tokenWarningState(tokens, 0)).toBe('ok');
    },
  );

  it.each([
    [100_000, false],
    [170_000, false],
    [178_000, false],
    [180_000, true],
    [182_000, true],
    [185_000, true],
    [195_000, true],
  ] as const)('rows 75 and 80: %d of 200,000 tokens call for a compaction: %s', (tokens, isDue) => {
    expect(shouldCompact(tokens, 200_000)).toBe(isDue);
    expect(shouldAutoCompact(tokens, 200_000, initialAutoCompactState)).toBe(isDue);
    expect(shouldAutoCompact(tokens, 200_000, { ...initialAutoCompactState, pausedTurns: 1 })).toBe(false);
  });

  it.each([20, 21, 50])(
    'row 77: of %d messages the last ten stay unless told otherwise, and no pair is parted',
    async (length) => {
      const conversation = shaped(`u${'cr'.repeat(length)}`.slice(0, length));
      const after = expectCompacted(
        await createStrategy('sliding-window').compact(conversation, strategyContext()),
      ).conversation;

      expect(rawsOf(after).slice(-10)).toEqual(rawsOf(conversation).slice(-10));
      expect(after.messages.length).toBeLessThanOrEqual(12);
    },
  );

  it('row 78: the third failure in a row pauses, and a pause ends with one more try', () => {
    const thrice = [failed, failed, failed].reduce(afterOutcome, initialAutoCompactState);
    const rested = Array.from({ length: COOL_DOWN_TURNS }).reduce<typeof thrice>(
      (state) => afterTurn(state),
      thrice,
    );

    expect(shouldAutoCompact(195_000, 200_000, thrice)).toBe(false);
    expect(shouldAutoCompact(195_000, 200_000, rested)).toBe(true);
    expect(shouldAutoCompact(195_000, 200_000, afterOutcome(rested, failed))).toBe(false);
  });

  it.each(['ladder', 'summarize'])('row 79: %s asks for nothing when nothing is needed', async (name) => {
    const { requests, summarizer } = recording();
    const context = strategyContext({ estimator, summarizer, targetTokens: 100_000, trigger: 'auto' });

    expect((await createStrategy(name).compact(toolSession(30), context)).status).toBe('skipped');
    expect(requests).toEqual([]);
  });

  it('row 81: from 98 % on there is a collapse, and what it leaves is legal', async () => {
    const conversation = toolSession(30);
    const after = expectCompacted(
      await createStrategy('collapse').compact(conversation, strategyContext()),
    ).conversation;

    expect(shouldContextCollapse(195_999, 200_000)).toBe(false);
    expect(shouldContextCollapse(196_000, 200_000)).toBe(true);
    expect(after.messages.length).toBe(4);
    expect(errorsOf(after, writeConversation(after))).toBe(0);
  });
});

describe('tokens and rounds (rows 82 to 87)', () => {
  it('row 82: every kind of block is counted, tool calls and results included', () => {
    const text = 'forty characters of text, more or less..';
    const blocks = [
      { role: 'user', content: [{ type: 'text', text }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: text, signature: 'c2ln' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: { text } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: text }] },
    ];

    for (const raw of blocks) {
      expect(measureContext(anthropicMessages.read([raw]), estimator).tokens).toBeGreaterThanOrEqual(
        text.length,
      );
    }
  });

  it.each([
    { keepTokens: 100_000, start: 0 },
    { keepTokens: 1100, start: 57 },
    { keepTokens: 0, start: 61 },
  ])(
    'row 84: the newest $keepTokens tokens begin at message $start, always a whole round',
    ({ keepTokens, start }) => {
      expect(tailStart(toolSession(30).messages, estimator, { keepTokens, keepRounds: 0 })).toBe(start);
    },
  );

  it.each([
    { shape: '', rounds: 0 },
    { shape: 'uaua', rounds: 3 },
    { shape: 'uuu', rounds: 1 },
    { shape: 'ucrcra', rounds: 4 },
  ])('row 85: $shape has $rounds rounds, the preamble counted', ({ shape, rounds }) => {
    expect(groupRounds(messagesOfShape(shape)).length).toBe(rounds);
  });

  it.each(['ucrcrcrcrcr', 'ucrcrcrcrcra', 'uauauaua', 'uauauauau'])(
    'row 86: snip of %s frees tokens and leaves a legal list that the user begins',
    async (shape) => {
      const outcome = await createStrategy('snip', { keepRounds: 2 }).compact(
        shaped(shape),
        strategyContext(),
      );
      const { conversation, receipt } = expectCompacted(outcome);

      expect(receipt.tokensAfter).toBeLessThan(receipt.tokensBefore);
      expect(conversation.messages[0]?.role).toBe('user');
      expect(errorsOf(conversation, writeConversation(conversation))).toBe(0);
    },
  );

  it('row 87: of a file read twice and changed between, the older content becomes a note and no message leaves', async () => {
    const use = (id: string, name: string) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { file_path: 'src/a.ts' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: `${id} ${'code '.repeat(100)}` }],
      },
    ];
    const conversation = anthropicMessages.read([
      { role: 'user', content: 'task' },
      ...use('first', 'Read'),
      ...use('change', 'Edit'),
      ...use('second', 'Read'),
      ...toolRound('x'),
    ]);
    const outcome = await createStrategy('collapse-reads').compact(conversation, strategyContext());
    const written = rawsOf(expectCompacted(outcome).conversation).map((raw) => JSON.stringify(raw));

    expect(written.length).toBe(conversation.messages.length);
    expect(written[2]).toContain('older content of src/a.ts');
    expect(written[6]).toContain('second code');
  });
});

describe('hazards', () => {
  const windows = [4_000, 8_192, 32_000, 128_000, 200_000, 1_000_000];
  const floors = windows.flatMap((windowTokens) =>
    [0.8, 0.9, 1, 1.2].map((share) => ({ windowTokens, share })),
  );

  it.each(floors)(
    'H01: with a floor of $share of the trigger in a window of $windowTokens nobody is asked for a summary',
    async ({ windowTokens, share }) => {
      const { triggerTokens, targetTokens } = thresholdsFor(windowTokens);
      const { requests, summarizer } = recording();
      const conversation = anthropicMessages.read({
        system: 's'.repeat(Math.ceil(triggerTokens * share)),
        messages: rawsOf(toolSession(20, Math.ceil(triggerTokens / 20))),
      });
      const context = strategyContext({ estimator, summarizer, targetTokens, trigger: 'auto' });
      const outcome = await createStrategy('summarize').compact(conversation, context);
      await createStrategy('ladder').compact(conversation, context);

      expect(outcome).toMatchObject({ status: 'insufficient', reason: 'floor-exceeds-target' });
      expect(requests).toEqual([]);
    },
  );

  it.each([0.85, 1, 1.2])(
    'H02: a summary of %d times its source is not taken, and two of them pause',
    async (share) => {
      const { summarizer } = recording(({ messages }) =>
        's'.repeat(Math.ceil(share * messages.reduce((sum, one) => sum + estimator.countMessage(one), 0))),
      );
      const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'auto' });
      let state = initialAutoCompactState;
      for (let run = 0; run < 3; run++) {
        const outcome = await createStrategy('summarize', { maxSummary: 1_000_000 }).compact(
          toolSession(30),
          context,
        );
        expect(outcome.status).not.toBe('compacted');
        state = afterOutcome(state, outcome);
      }

      expect(state.pausedTurns).toBeGreaterThan(0);
    },
  );

  it('H14: summaries that grow stay below their limit through ten compactions', async () => {
    const { summarizer } = recording(({ previousSummary = '' }) => `${previousSummary}${'s'.repeat(400)}`);
    const strategy = createStrategy('summarize', { maxSummary: 1000, keepRecent: 0 });
    const context = strategyContext({ estimator, summarizer, targetTokens: 5000, trigger: 'manual' });
    let conversation = toolSession(0);
    for (let turn = 0; turn < 10; turn++) {
      const grown = Array.from({ length: 10 }, (_one, index) => toolRound(`t${turn}_${index}`)).flat();
      conversation = withMessages(conversation, [
        ...conversation.messages,
        ...grown.map((raw) => anthropicMessages.readMessage(raw)),
      ]);
      const outcome = await strategy.compact(conversation, context);
      if (outcome.status === 'compacted') conversation = outcome.conversation;
    }

    expect(summariesIn(conversation).length).toBe(1);
    expect(summariesIn(conversation)[0]!.length).toBeLessThanOrEqual(1000);
  });

  const eager: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    'sliding-window': { keepLast: 2 },
    snip: { keepRounds: 1 },
    'collapse-reads': { keepRounds: 0, minTokens: 0 },
    'clear-tool-results': { protectTokens: 0, minBatchTokens: 0 },
    summarize: { keepRecent: 0, keepRounds: 1, minGain: 0 },
  };
  const shrinking = strategies.map(({ name }) => name).filter((name) => name !== 'strip-media');

  describe.each(shrinking)('%s', (name) => {
    test.prop([steps, fc.constantFrom(...Object.keys(writers)), fc.integer({ min: 0, max: 400 })])(
      'H16: a conversation that was compacted is smaller than before',
      async (list, formatName, targetTokens) => {
        const conversation = findFormat(formatName)!.read(writers[formatName]!(list));
        const outcome = await createStrategy(name, eager[name]).compact(
          conversation,
          strategyContext({ targetTokens }),
        );
        if (outcome.status !== 'compacted') return;

        expect(outcome.receipt.tokensAfter).toBeLessThan(outcome.receipt.tokensBefore);
      },
    );
  });

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    const format = findFormat(name)!;
    const stages = fc.array(steps, { minLength: 5, maxLength: 5 });

    test.prop([stages, fc.boolean()], { numRuns: 60 })(
      'H13: five compactions keep every pin byte for byte and leave exactly one summary',
      async (lists, quotes) => {
        const { summarizer } = recording(({ messages }) =>
          quotes ? 'they said KEEP-0' : `${messages.length} messages`,
        );
        const strategy = createStrategy('summarize', { keepRecent: 0, keepRounds: 1, minGain: 0 });
        const context = strategyContext({ summarizer, targetTokens: 0, pins: { patterns: [/KEEP-\d/] } });
        const pinned: unknown[] = [];
        let conversation = format.read([]);
        let count = 0;
        for (const [stage, list] of lists.entries()) {
          const grown = write(namedFor(list, stage)).map((raw) => format.readMessage(raw));
          pinned.push(...grown.filter(isKept).map(({ raw }) => raw));
          conversation = withMessages(conversation, [...conversation.messages, ...grown]);
          const outcome = await strategy.compact(conversation, context);
          if (outcome.status !== 'compacted') continue;
          conversation = outcome.conversation;
          count++;
        }

        const kept = new Set(rawsOf(conversation));
        expect(count).toBeGreaterThan(1);
        expect(pinned.length).toBeGreaterThanOrEqual(5);
        expect(pinned.every((raw) => kept.has(raw))).toBe(true);
        expect(summariesIn(conversation).length).toBe(Math.min(count, 1));
      },
    );
  });
});

/** The steps with ids and a first question of their own, and with enough said that a summary is shorter. */
function namedFor(list: readonly Step[], stage: number): readonly Step[] {
  return list.map(({ question, said = '', calls, ...rest }, index) => ({
    ...rest,
    question: index === 0 ? `KEEP-${stage}` : question,
    said: `${said} ${'and so on '.repeat(40)}`,
    calls: calls.map((call) => ({ ...call, id: `s${stage}_${call.id}` })),
  }));
}

function isKept({ raw }: Message): boolean {
  return /KEEP-\d/.test(JSON.stringify(raw));
}
