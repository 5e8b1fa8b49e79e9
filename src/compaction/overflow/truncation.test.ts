import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { recordsOfWords, wordOf } from '../../../test/support/shapes.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { textOf } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { readConversation } from '../../formats/registry.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { type RetryTruncationOptions, truncateHeadForRetry } from './truncation.ts';

const FOREIGN_MARKER = '[earlier conversation truncated for compaction retry]';
const OUR_MARKER = /^\[earlier conversation left out: (\d+) rounds? did not fit the context window\]$/;

const agentRun = 'U1 A1(a) T(a) A2(b) T(b) A3(c) T(c) A4';

const sizes = new Map([
  ['U1', 100],
  ['A1(a)', 50],
  ['T(a)', 150],
  ['A2(b)', 50],
  ['T(b)', 450],
  ['A3(c)', 50],
  ['T(c)', 50],
  ['A4', 25],
]);

/** Counts the records of the table by their words, and all others as nothing. */
const sized: TokenEstimator = {
  ...createTokenEstimator(),
  countMessage: (message) => sizes.get(wordOf(message)) ?? 0,
  countMessages: (messages) => messages.reduce((sum, message) => sum + (sizes.get(wordOf(message)) ?? 0), 0),
};

const estimator = createTokenEstimator();
const tooLong = { kind: 'prompt-too-long' };

function records(words: string): Conversation {
  return anthropicMessages.read(deepFreeze(recordsOfWords(words).map(({ raw }) => raw)));
}

function anthropic(messages: readonly unknown[]): Conversation {
  return readConversation(deepFreeze(messages), 'anthropic-messages');
}

const isMarker = (text: string) => OUR_MARKER.test(text) || text === FOREIGN_MARKER;

/** The words of the records, and `M` for a marker. */
function wordsOf(conversation: Conversation | undefined): string | null {
  if (conversation === undefined) return null;
  return conversation.messages
    .map(wordOf)
    .map((word) => (isMarker(word) ? 'M' : word))
    .join(' ');
}

function literal(conversation: Conversation, options: Partial<RetryTruncationOptions> = {}) {
  return truncateHeadForRetry(conversation, { estimator: sized, policy: 'literal', ...options });
}

/** What each call makes of the result of the one before, until null; never more than ten. */
function repeat(truncate: typeof literal): readonly (string | null)[] {
  const seen: (string | null)[] = [];
  let conversation: Conversation | undefined = records(agentRun);
  while (conversation !== undefined && seen.length < 10) {
    conversation = truncate(conversation)?.conversation;
    seen.push(wordsOf(conversation));
  }
  return seen;
}

const gap = (excessTokens: number) => ({ overflow: { ...tooLong, excessTokens } });

/** A run of `count` answers, each followed by a question, after a first question. */
const talk = (count: number) =>
  ['U0', ...Array.from({ length: count }, (_, index) => `A${index + 1} U${index + 1}`)].join(' ');

describe('truncateHeadForRetry, literal', () => {
  it.each([
    { gapTokens: 1, kept: 'M A1(a) T(a) A2(b) T(b) A3(c) T(c) A4' },
    { gapTokens: 100, kept: 'M A1(a) T(a) A2(b) T(b) A3(c) T(c) A4' },
    { gapTokens: 101, kept: 'M A2(b) T(b) A3(c) T(c) A4' },
    { gapTokens: 300, kept: 'M A2(b) T(b) A3(c) T(c) A4' },
    { gapTokens: 301, kept: 'M A3(c) T(c) A4' },
    { gapTokens: 800, kept: 'M A3(c) T(c) A4' },
  ])('drops whole rounds from the head until a gap of $gapTokens is reached', ({ gapTokens, kept }) => {
    expect(wordsOf(literal(records(agentRun), gap(gapTokens))?.conversation)).toBe(kept);
  });

  it.each([
    { rounds: 2, dropped: 1 },
    { rounds: 9, dropped: 1 },
    { rounds: 10, dropped: 2 },
    { rounds: 14, dropped: 2 },
    { rounds: 15, dropped: 3 },
    { rounds: 50, dropped: 10 },
    { rounds: 100, dropped: 20 },
  ])('drops $dropped of $rounds rounds when no number is known', ({ rounds, dropped }) => {
    const conversation = records(talk(rounds - 1));
    const first = literal(conversation);

    expect(first?.droppedRounds).toHaveLength(dropped);
    expect(first).toMatchObject({ fraction: 0.2, gapTokens: undefined });
    expect(literal(conversation, { attempt: 3 })).toEqual(first);
  });

  it('keeps the last round whatever the gap', () => {
    expect(wordsOf(literal(records(agentRun), gap(10_000))?.conversation)).toBe('M A4');
  });

  it.each(['U1', 'U1 U2', 'A1', 'A1(a) T(a)', 'A1 A1', ''])(
    'gives null for the one round of "%s"',
    (words) => {
      expect(literal(records(words))).toBeNull();
      expect(literal(records(words), gap(10))).toBeNull();
    },
  );

  it('makes progress on every repetition, and ends', () => {
    expect(repeat(literal)).toEqual([
      'M A1(a) T(a) A2(b) T(b) A3(c) T(c) A4',
      'M A2(b) T(b) A3(c) T(c) A4',
      'M A3(c) T(c) A4',
      'M A4',
      null,
    ]);
  });

  it('takes the marker of other programs for its own', () => {
    const conversation = records('A1 U1 A2 U2');
    const front = anthropicMessages.userMessages([anthropicMessages.textBlock(FOREIGN_MARKER)]);
    const marked = anthropic([...front, ...conversation.messages].map(({ raw }) => raw));

    expect(wordsOf(literal(marked)?.conversation)).toBe('M A2 U2');
  });

  it('leaves text alone that only resembles a marker, and the last message in any case', () => {
    const quoted = anthropic([
      { role: 'user', content: `why ${FOREIGN_MARKER}` },
      { role: 'assistant', content: 'because' },
      { role: 'user', content: FOREIGN_MARKER },
    ]);

    expect(literal(quoted)).toMatchObject({ droppedMessages: 1 });
    expect(literal(quoted)?.conversation.messages.slice(1)).toEqual(quoted.messages.slice(1));
  });

  it('puts a user message in front that counts all rounds that ever left', () => {
    const once = literal(records(agentRun))!;
    const twice = literal(once.conversation, gap(201))!;

    expect(once.marker).toBe('[earlier conversation left out: 1 round did not fit the context window]');
    expect(twice.marker).toBe('[earlier conversation left out: 3 rounds did not fit the context window]');
    expect(twice.conversation.messages[0]).toMatchObject({ role: 'user' });
    expect(textOf(twice.conversation.messages[0]!.blocks[0]!)).toBe(twice.marker);
  });

  it('repairs what a list without ids leaves open', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'bash', input: {} });
    const broken = anthropic([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [call('a')] },
      { role: 'user', content: 'never mind' },
      { role: 'assistant', content: [call('b')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'zz', content: 'whose?' }] },
      { role: 'assistant', content: 'done' },
    ]);
    const written = writeConversation(literal(broken, gap(0))!.conversation);

    expect(JSON.stringify(written)).not.toContain('whose?');
    expect(JSON.stringify(written).match(/"tool_use_id":"[ab]"/g)).toHaveLength(2);
  });
});

describe('truncateHeadForRetry, keep-preamble', () => {
  const keep = (conversation: Conversation, options: Partial<RetryTruncationOptions> = {}) =>
    truncateHeadForRetry(conversation, { estimator: sized, policy: 'keep-preamble', ...options });

  it.each([
    { gapTokens: 1, kept: 'U1 M A2(b) T(b) A3(c) T(c) A4', why: 'the oldest round is enough' },
    { gapTokens: 201, kept: 'U1 M A3(c) T(c) A4', why: 'two are needed' },
    { gapTokens: 800, kept: 'U1 M A4', why: 'all but the newest are needed' },
    { gapTokens: 801, kept: 'M A4', why: 'nothing else is left' },
  ])('leaves $kept for a gap of $gapTokens because $why', ({ gapTokens, kept }) => {
    expect(wordsOf(keep(records(agentRun), { ...gap(gapTokens), marginFraction: 0 })?.conversation)).toBe(
      kept,
    );
  });

  it('drops the preamble only when all else has gone', () => {
    expect(repeat(keep)).toEqual([
      'U1 M A2(b) T(b) A3(c) T(c) A4',
      'U1 M A3(c) T(c) A4',
      'U1 M A4',
      'M A4',
      null,
    ]);
  });

  it('keeps the round with the last question longer than the rounds that work on it', () => {
    const conversation = records('U1 A1 U2 A2(a) T(a) A3(b) T(b) A4');

    expect(wordsOf(keep(conversation)?.conversation)).toBe('U1 A1 U2 M A3(b) T(b) A4');
    expect(wordsOf(keep(conversation, gap(900))?.conversation)).toBe('M A4');
    expect(wordsOf(keep(conversation, gap(1))?.conversation)).toBe('U1 A1 U2 M A3(b) T(b) A4');
  });

  it('keeps one marker at the first gap when a later one opens', () => {
    const first = keep(records('U1 A1 A2 U2 A3(a) T(a) A4(b) T(b) A5'))!;
    const second = keep(first.conversation)!;

    expect(wordsOf(first.conversation)).toBe('U1 M A2 U2 A3(a) T(a) A4(b) T(b) A5');
    expect(wordsOf(second.conversation)).toBe('U1 M A2 U2 A4(b) T(b) A5');
    expect(second.marker).toContain('2 rounds');
  });

  it.each([
    { attempt: 1, dropped: 4 },
    { attempt: 2, dropped: 8 },
    { attempt: 3, dropped: 12 },
    { attempt: 9, dropped: 12 },
  ])('drops $dropped of 20 rounds at retry $attempt when no number is known', ({ attempt, dropped }) => {
    expect(keep(records(talk(19)), { attempt })?.droppedRounds).toHaveLength(dropped);
  });

  it('computes the gap itself from the window, and uses the larger of both', () => {
    const conversation = records(talk(19));
    const tokens = requestTokens(conversation, estimator);
    const drop = (options: Partial<RetryTruncationOptions>) =>
      truncateHeadForRetry(conversation, { estimator, ...options })!;

    expect(drop({ windowTokens: tokens * 0.4 }).receipt.tokensAfter).toBeLessThanOrEqual(tokens * 0.4 + 20);
    expect(drop({ windowTokens: tokens * 0.4 }).gapTokens).toBeCloseTo(tokens * 0.6);
    expect(drop({ windowTokens: tokens - 1 }).droppedRounds).toHaveLength(4);
    expect(drop({ windowTokens: tokens * 2 }).droppedRounds).toHaveLength(4);
    expect(drop({ windowTokens: tokens * 2 }).gapTokens).toBeUndefined();
    const stated = { ...tooLong, limitTokens: tokens * 0.4 };
    expect(drop({ windowTokens: tokens * 2, overflow: stated }).droppedRounds.length).toBeGreaterThan(8);
    const reserved = { ...stated, limitTokens: tokens, requestedOutputTokens: tokens * 0.6 };
    expect(drop({ overflow: reserved }).droppedRounds.length).toBeGreaterThan(8);
  });

  it.each([
    { actualTokens: undefined, marginFraction: 0, expected: 300 },
    { actualTokens: 2, marginFraction: 0, expected: 150 },
    { actualTokens: 0.5, marginFraction: 0, expected: 600 },
    { actualTokens: 1, marginFraction: undefined, expected: 330 },
    { actualTokens: 2, marginFraction: 0.5, expected: 225 },
  ])(
    'scales a gap of 300 to $expected of our tokens (the provider counts $actualTokens times, margin $marginFraction)',
    ({ actualTokens: times, marginFraction, expected }) => {
      const conversation = records(agentRun);
      const actualTokens = times === undefined ? undefined : times * requestTokens(conversation, sized);
      const overflow = { ...tooLong, excessTokens: 300, actualTokens };

      expect(keep(conversation, { overflow, marginFraction })?.gapTokens).toBeCloseTo(expected);
    },
  );

  it('leaves nine tenths of the limit, however far above it the request was', () => {
    const conversation = records(agentRun);
    const tokens = requestTokens(conversation, sized);
    const overflow = { ...tooLong, excessTokens: tokens * 0.9, actualTokens: tokens };

    expect(keep(conversation, { overflow })?.gapTokens).toBeCloseTo(tokens * 0.91);
  });

  it('does not scale by a count that the provider broke off', () => {
    const overflow = { ...tooLong, excessTokens: 300, actualTokens: 1, countIsLowerBound: true };

    expect(keep(records(agentRun), { overflow, marginFraction: 0 })?.gapTokens).toBe(300);
  });

  it('never drops system messages at the head, nor a summary while rounds are left', () => {
    const chat = readConversation(
      deepFreeze([
        { role: 'system', content: 'rules' },
        { role: 'user', content: summaryMessageText('what happened') },
        { role: 'assistant', content: 'one' },
        { role: 'user', content: 'two' },
        { role: 'assistant', content: 'three' },
      ]),
      'openai-chat',
    );
    const texts = (conversation: Conversation) =>
      conversation.messages.map(({ blocks }) => textOf(blocks[0]!));
    const last = truncateHeadForRetry(chat, { estimator, ...gap(1e6) })!;

    expect(texts(truncateHeadForRetry(chat, { estimator, ...gap(1) })!.conversation).at(1)).toContain(
      'happened',
    );
    expect(texts(last.conversation)).toEqual(['rules', last.marker, 'three']);
    expect(truncateHeadForRetry(last.conversation, { estimator, ...gap(1) })).toBeNull();
  });

  it('marks a gap in front of the system messages that have to stand right before an answer', () => {
    const list = [
      { role: 'user', content: 'go' },
      { role: 'system', content: 'rules' },
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'three' },
      { role: 'user', content: 'four' },
    ];
    const textsIn = (format: string) =>
      truncateHeadForRetry(readConversation(deepFreeze(list), format), {
        estimator,
        ...gap(1),
      })?.conversation.messages.map(({ blocks }) => textOf(blocks[0]!));

    expect(textsIn('anthropic-messages')).toEqual([
      'go',
      expect.stringMatching(OUR_MARKER),
      'rules',
      'three',
      'four',
    ]);
    expect(textsIn('openai-responses')).toEqual([
      'go',
      'rules',
      expect.stringMatching(OUR_MARKER),
      'three',
      'four',
    ]);
  });

  it("never touches what stands before the provider's own summary", () => {
    const conversation = anthropic([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'compaction', content: 'so far' }] },
      { role: 'user', content: 'on' },
      { role: 'assistant', content: 'fine' },
      { role: 'user', content: 'and on' },
      { role: 'assistant', content: 'done' },
    ]);
    for (const policy of ['literal', 'keep-preamble', 'oversized-first'] as const) {
      const truncated = truncateHeadForRetry(conversation, { estimator, policy, ...gap(1e6) })!;

      expect(truncated.conversation.messages.slice(0, 3)).toEqual(conversation.messages.slice(0, 3));
      expect(truncated.droppedRounds).toHaveLength(1);
    }
  });
});

describe('what is recorded', () => {
  it('says of every message what became of it: dropped, and never summarised', () => {
    const first = literal(records(agentRun), gap(101))!;
    const second = literal(first.conversation)!;

    expect(first).toMatchObject({ droppedMessages: 3, gapTokens: 101, fraction: undefined });
    expect(first.receipt.runs.map(({ fate, start, end }) => [fate, start, end])).toEqual([
      ['dropped', 0, 3],
      ['verbatim', 3, 8],
    ]);
    expect(second).toMatchObject({ droppedMessages: 2 });
    expect(second.receipt).toMatchObject({ messagesBefore: 6, messagesAfter: 4 });
  });

  it('names the rounds that left and the largest one, in the conversation that was given', () => {
    const first = literal(records(agentRun), gap(101))!;
    const second = literal(first.conversation)!;
    const names = ({ droppedRounds }: typeof first) => droppedRounds.map(({ name }) => name);

    expect(names(first)).toEqual([
      'round 0 (preamble, message 0, 100 tokens)',
      'round 1 (msg_1, messages 1–2, 200 tokens)',
    ]);
    expect(first.droppedRounds.map(({ round }) => round)).toEqual(
      groupRounds(records(agentRun).messages).slice(0, 2),
    );
    expect(first.leftOut).toEqual(records(agentRun).messages.slice(0, 3));
    expect(first.largestRound?.name).toBe('round 2 (msg_2, messages 3–4, 500 tokens)');
    // A marker stands in front by now.
    expect(names(second)).toEqual(['round 1 (msg_2, messages 1–2, 500 tokens)']);
    expect(second.leftOut.map(({ raw }) => raw)).toEqual(
      records(agentRun)
        .messages.slice(3, 5)
        .map(({ raw }) => raw),
    );
  });

  it('keeps untouched messages as the very same values', () => {
    const conversation = records(agentRun);
    const { messages } = literal(conversation, gap(301))!.conversation;

    for (const [index, message] of messages.slice(1).entries()) {
      expect(message.raw).toBe(conversation.messages[index + 5]?.raw);
    }
  });

  it('takes reasoning out behind the change where the model binds it to its prefix', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const answer = (text: string) => ({ role: 'assistant', content: [thinking, { type: 'text', text }] });
    const conversation = anthropic([
      { role: 'user', content: 'go' },
      answer('before'),
      { role: 'user', content: 'on' },
      answer('dropped'),
      answer('dropped too'),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'none', content: 'gone' }] },
      answer('behind'),
    ]);
    const thoughts = (bindsReasoning: boolean) =>
      truncateHeadForRetry(conversation, { estimator, bindsReasoning })!
        .conversation.messages.filter(({ role }) => role === 'assistant')
        .map(({ blocks }) => blocks.map((block) => (block.type === 'reasoning' ? 'thought' : textOf(block))));

    expect(thoughts(false)).toEqual([
      ['thought', 'before'],
      ['thought', 'behind'],
    ]);
    expect(thoughts(true)).toEqual([['thought', 'before'], ['behind']]);
  });
});

describe('a policy that does not exist', () => {
  it('is told at once, with the names of those that do', () => {
    const policy = 'newest-first' as 'literal';

    expect(() => literal(records(agentRun), { policy })).toThrow(
      expect.objectContaining({ code: 'usage', remedy: expect.stringContaining('oversized-first') }),
    );
  });
});

describe('the input of a summarizer', () => {
  const talked = 'U1 A1 U2 A2 U3 A3 U4 A4 U5 A5 U6';

  it('has no pins, so that the oldest round leaves first', () => {
    const input = records('U1 A1 U2 A2(a) T(a) A3(b) T(b) A4');
    const drop = (isSummaryInput: boolean) =>
      wordsOf(
        truncateHeadForRetry(input, { estimator, policy: 'keep-preamble', isSummaryInput, ...gap(1) })
          ?.conversation,
      );

    expect(drop(true)).toBe('U1 M A2(a) T(a) A3(b) T(b) A4');
    // In a request the last question of the user's is pinned.
    expect(drop(false)).toBe('U1 A1 U2 M A3(b) T(b) A4');
  });

  it('is cut by what the gap is of the messages alone, without the instructions and tools of the agent', () => {
    const tools = [{ name: 'bash', description: 'runs '.repeat(5000), input_schema: { type: 'object' } }];
    const body = { model: 'm', tools, messages: records(talked).messages.map(({ raw }) => raw) };
    const conversation = readConversation(deepFreeze(body), 'anthropic-messages');
    const tokens = estimator.countMessages(conversation.messages);
    const overflow = { ...tooLong, actualTokens: 1000, excessTokens: 400 };
    const truncated = truncateHeadForRetry(conversation, { estimator, overflow, isSummaryInput: true })!;

    expect(truncated.gapTokens).toBeCloseTo(tokens * 0.44);
    expect(estimator.countMessages(truncated.leftOut)).toBeGreaterThanOrEqual(truncated.gapTokens!);
    expect(truncated.isCurrentTurnShortened).toBe(false);
  });
});
