import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  AUTOCOMPACT_TRIGGER_FRACTION,
  type AutoCompactState,
  afterOutcome,
  afterTurn,
  COLLAPSE_FRACTION,
  COOL_DOWN_TURNS,
  type CompactionEvent,
  CRITICAL_FRACTION,
  collapse,
  createCompactor,
  createTokenEstimator,
  describeRounds,
  initialAutoCompactState,
  ladder,
  MAX_CONSECUTIVE_FAILURES,
  notCompacted,
  RESERVE_TOKENS,
  requestTokens,
  shouldAutoCompact,
  shouldCompact,
  shouldContextCollapse,
  slidingWindow,
  snip,
  strategies,
  summarize,
  TRIGGER_MARGIN_TOKENS,
  thresholdsFor,
  tokenWarningState,
  WARNING_FRACTION,
  writeConversation,
} from '../../src/index.ts';
import {
  anthropic,
  errorsOf,
  estimator,
  expectCompacted,
  rawsOf,
  recording,
  shaped,
  toolSession,
} from '../support/checklist.ts';
import { strategyContext } from '../support/strategy-context.ts';

describe('automatic compaction (rows 70 to 81)', () => {
  const failed = notCompacted('failed', 'summary-upstream', 'down');
  const stateAfter = (...outcomes: readonly (typeof failed)[]) =>
    outcomes.reduce(afterOutcome, initialAutoCompactState);

  it('row 70: the state counts compactions and failures, and a success clears the failures', async () => {
    const success = await snip({ keepRounds: 1 }).compact(toolSession(5), strategyContext());

    expect(stateAfter(failed, failed)).toMatchObject({ consecutiveFailures: 2, pausedTurns: 0 });
    expect(afterOutcome(stateAfter(failed, failed), success)).toMatchObject({
      compactionCount: 1,
      consecutiveFailures: 0,
    });
  });

  it('row 70: a state that was stored and read again goes on where it stopped', () => {
    const stored = JSON.parse(JSON.stringify(stateAfter(failed, failed))) as AutoCompactState;

    expect(shouldAutoCompact(195_000, 200_000, stored)).toBe(true);
    expect(shouldAutoCompact(195_000, 200_000, afterOutcome(stored, failed))).toBe(false);
  });

  it('row 71: what a compaction freed is counted without its summary', async () => {
    const freed = async (text: string) => {
      const { summarizer } = recording(() => text);
      const context = strategyContext({ estimator, targetTokens: 5000, summarizer });
      const { conversation, receipt } = expectCompacted(await summarize().compact(toolSession(30), context));

      expect(receipt.messagesBefore).toBe(61);
      expect(receipt.messagesAfter).toBe(conversation.messages.length);
      expect(receipt.tokensAfter).toBe(requestTokens(conversation, estimator));
      return receipt.tokensBefore - receipt.tokensAfter;
    };

    expect((await freed('s'.repeat(10))) - (await freed('s'.repeat(1010)))).toBe(1000);
  });

  it('row 72: every round has its messages, an estimate and a hint: its file, its command or its tool', () => {
    const use = (id: string, name: string, input: object) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(100) }] },
    ];
    const { messages } = anthropic([
      { role: 'user', content: 'task' },
      ...use('a', 'Read', { file_path: 'src/a.ts' }),
      ...use('b', 'bash', { command: 'npm test' }),
      ...use('c', 'ask_expert', { question: 'why?' }),
      { role: 'assistant', content: 'done' },
    ]);
    const described = describeRounds(messages, estimator);

    expect(described.map(({ hint }) => hint)).toEqual([
      undefined,
      'src/a.ts',
      'bash: npm',
      'ask_expert',
      undefined,
    ]);
    expect(described.flatMap((one) => one.messages)).toEqual(messages);
    for (const { tokens, messages: own } of described) expect(tokens).toBe(estimator.countMessages(own));
  });

  it.each([
    { trigger: 'auto', status: 'insufficient' },
    { trigger: 'manual', status: 'compacted' },
    { trigger: 'overflow', status: 'compacted' },
  ] as const)('row 73: a floor above the target is $status for $trigger', async ({ trigger, status }) => {
    const context = strategyContext({ estimator, targetTokens: 100, trigger });

    expect((await summarize().compact(toolSession(30), context)).status).toBe(status);
  });

  it('row 73: events tell what set a compaction off', async () => {
    const events: CompactionEvent[] = [];
    const compactor = createCompactor({ windowTokens: 2000, onEvent: (event) => events.push(event) });
    const messages = rawsOf(toolSession(30));
    await compactor.maybeCompact(messages);
    await compactor.compact(messages);
    const triggers = events.flatMap((event) => ('trigger' in event ? [event.trigger] : []));

    expect(triggers).toEqual(['auto', 'auto', 'manual', 'manual']);
  });

  it.each([
    [50_000, 'ok'],
    [100_000, 'ok'],
    [160_000, 'warning'],
    [170_000, 'warning'],
    [190_000, 'critical'],
    [192_000, 'critical'],
    [196_000, 'critical'],
  ] as const)('row 74: %d of 200,000 tokens are %s, and nothing is without a limit', (tokens, level) => {
    expect(tokenWarningState(tokens, 200_000)).toBe(level);
    expect(tokenWarningState(tokens, 0)).toBe('ok');
  });

  it('row 75: an automatic run is due at nine tenths of the window', () => {
    expect(AUTOCOMPACT_TRIGGER_FRACTION).toBe(0.9);
    expect(shouldCompact(179_999, 200_000)).toBe(false);
    expect(shouldCompact(180_000, 200_000)).toBe(true);
  });

  // `literal` is the window without the reserve and the margin. It goes below zero in small windows, where half of the
  // window takes its place, and above nine tenths in large ones.
  it.each([
    { windowTokens: 200_000, output: 20_000, literal: 167_000, trigger: 167_000 },
    { windowTokens: 200_000, output: 64_000, literal: 167_000, trigger: 167_000 },
    { windowTokens: 200_000, output: 8192, literal: 178_808, trigger: 178_808 },
    { windowTokens: 1_000_000, output: 20_000, literal: 967_000, trigger: 900_000 },
    { windowTokens: 128_000, output: 16_384, literal: 98_616, trigger: 98_616 },
    { windowTokens: 32_000, output: 4096, literal: 14_904, trigger: 16_000 },
    { windowTokens: 16_385, output: 4096, literal: -711, trigger: 8192 },
    { windowTokens: 8192, output: 4096, literal: -8904, trigger: 4096 },
  ])('row 75: a window of $windowTokens with answers of $output is compacted at $trigger', (row) => {
    const { windowTokens, output, literal, trigger } = row;

    expect(windowTokens - Math.min(output, RESERVE_TOKENS) - TRIGGER_MARGIN_TOKENS).toBe(literal);
    expect(thresholdsFor(windowTokens, { maxOutputTokens: output }).triggerTokens).toBe(trigger);
  });

  it('row 76: warnings begin at 0.80 and 0.95 of the window, both inclusive', () => {
    expect([WARNING_FRACTION, CRITICAL_FRACTION]).toEqual([0.8, 0.95]);
    const levels = [159_999, 160_000, 189_999, 190_000].map((tokens) => tokenWarningState(tokens, 200_000));
    expect(levels).toEqual(['ok', 'warning', 'warning', 'critical']);
  });

  test.prop([fc.integer({ min: 1, max: 2_000_000 })])(
    'row 76: an empty window is never worth a warning, however small it is',
    (windowTokens) => {
      expect(tokenWarningState(0, windowTokens)).toBe('ok');
      expect(tokenWarningState(windowTokens, windowTokens)).toBe('critical');
    },
  );

  it('row 77: ten messages stay unless told otherwise', () => {
    const definition = strategies.find(({ name }) => name === 'sliding-window');

    expect(definition?.options).toMatchObject({ keepLast: { default: 10, min: 1 } });
  });

  it.each([20, 21, 50])(
    'row 77: of %d messages at least the last ten stay, and no pair is parted',
    async (length) => {
      const conversation = shaped(`u${'cr'.repeat(length)}`.slice(0, length));
      const kept = expectCompacted(
        await slidingWindow().compact(conversation, strategyContext()),
      ).conversation;

      expect(rawsOf(kept).slice(-10)).toEqual(rawsOf(conversation).slice(-10));
      expect(kept.messages.length).toBeLessThanOrEqual(12);
      expect(errorsOf(kept, writeConversation(kept))).toBe(errorsOf(conversation, rawsOf(conversation)));
    },
  );

  it('row 78: the third failure in a row pauses, and a pause ends with one more try', () => {
    const thrice = stateAfter(failed, failed, failed);
    const rested = Array.from({ length: COOL_DOWN_TURNS }).reduce<typeof thrice>(
      (state) => afterTurn(state),
      thrice,
    );

    expect(MAX_CONSECUTIVE_FAILURES).toBe(3);
    expect(shouldAutoCompact(195_000, 200_000, stateAfter(failed, failed))).toBe(true);
    expect(shouldAutoCompact(195_000, 200_000, thrice)).toBe(false);
    expect(shouldAutoCompact(195_000, 200_000, rested)).toBe(true);
    expect(shouldAutoCompact(195_000, 200_000, afterOutcome(rested, failed))).toBe(false);
  });

  it.each([ladder(), summarize()])(
    'row 79: $name asks for nothing when nothing is needed',
    async (strategy) => {
      const { requests, summarizer } = recording();
      const context = strategyContext({ estimator, summarizer, targetTokens: 100_000, trigger: 'auto' });

      expect((await strategy.compact(toolSession(30), context)).status).toBe('skipped');
      expect(requests).toEqual([]);
    },
  );

  it.each([
    { tokens: 0, reads: 0, runs: 'below-trigger', asked: 0 },
    { tokens: 50_000, reads: 0, runs: 'below-trigger', asked: 0 },
    { tokens: 170_000, reads: 90_000, runs: 'collapse-reads', asked: 0 },
    { tokens: 185_000, reads: 0, runs: 'summarize', asked: 1 },
  ])('row 79: $tokens of 200,000 tokens, $reads of them stale reads: $runs', async (row) => {
    const { requests, summarizer } = recording();
    const compactor = createCompactor({ windowTokens: 200_000, summarizer });
    const { outcome } = await compactor.maybeCompact(readSession(row.tokens, row.reads));

    expect(outcome.reason).toBe(row.runs);
    expect(requests.length).toBe(row.asked);
  });

  it.each([
    [100_000, false],
    [170_000, false],
    [178_000, false],
    [180_000, true],
    [182_000, true],
    [185_000, true],
    [195_000, true],
  ] as const)('row 80: %d of 200,000 tokens call for a compaction: %s', (tokens, isDue) => {
    const paused = { ...initialAutoCompactState, pausedTurns: 1 };

    expect(shouldCompact(tokens, 200_000)).toBe(isDue);
    expect(shouldCompact(tokens, 0)).toBe(false);
    expect(shouldAutoCompact(tokens, 200_000, initialAutoCompactState)).toBe(isDue);
    expect(shouldAutoCompact(tokens, 200_000, paused)).toBe(false);
  });

  it('row 81: from 98 % on there is a collapse, and what it leaves is legal', async () => {
    const outcome = await collapse().compact(toolSession(30), strategyContext());
    const { conversation } = expectCompacted(outcome);

    expect(COLLAPSE_FRACTION).toBe(0.98);
    expect(shouldContextCollapse(195_999, 200_000)).toBe(false);
    expect(shouldContextCollapse(196_000, 200_000)).toBe(true);
    expect(shouldContextCollapse(196_000, 0)).toBe(false);
    expect(conversation.messages.length).toBe(4);
    expect(errorsOf(conversation, writeConversation(conversation))).toBe(0);
  });
});

/** A session of about so many tokens, of which so many are reads of one file that was read again since. */
function readSession(tokens: number, reads: number): readonly unknown[] {
  const line = 'const value = compute(left, right);\n';
  const lineTokens = createTokenEstimator().countText(line.repeat(100)) / 100;
  const use = (id: string, name: string, size: number) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { file_path: 'kiln.ts' } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: id, content: line.repeat(Math.round(size / lineTokens)) },
      ],
    },
  ];
  const stale = reads === 0 ? [] : [reads / 2, reads / 2, 10];
  return [
    { role: 'user', content: 'task' },
    ...stale.flatMap((size, index) => use(`read${index}`, 'Read', size)),
    // What an expert said cannot be had again, so that only a summary makes it smaller.
    ...Array.from({ length: 10 }, (_one, index) =>
      use(`ask${index}`, 'ask_expert', (tokens - reads) / 10),
    ).flat(),
  ];
}
