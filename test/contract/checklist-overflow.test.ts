import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  createTokenEstimator,
  groupRounds,
  linkTools,
  MAX_OVERFLOW_RETRIES,
  type Message,
  parseOverflow,
  type RetryPolicy,
  type RetryTruncationOptions,
  readConversation,
  recoverFromOverflow,
  type TokenEstimator,
  textOf,
  tokenGap,
  truncateHeadForRetry,
  writeConversation,
} from '../../src/index.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { recordsOfWords, wordOf } from '../../src/testing/shapes.ts';
import { anthropic, errorsOf, estimator, rawsOf, toolSession } from '../support/checklist.ts';
import { steps, writers } from '../support/conversations.ts';

const RUN = 'U1 A1(a) T(a) A2(b) T(b) A3(c) T(c) A4';
const SIZES = new Map([
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
  countMessage: (message) => SIZES.get(wordOf(message)) ?? 0,
  countMessages: (messages) => messages.reduce((sum, message) => sum + (SIZES.get(wordOf(message)) ?? 0), 0),
};

const FOREIGN_MARKER = '[earlier conversation truncated for compaction retry]';
const isMarker = (message: Message) => /^\[earlier conversation (left out|truncated)/.test(wordOf(message));

function records(words: string): Conversation {
  return anthropic(rawsOf({ messages: recordsOfWords(words) }));
}

/** The words of the records, and `M` for a marker. */
function wordsOf(conversation: Conversation | undefined): string | undefined {
  return conversation?.messages.map((message) => (isMarker(message) ? 'M' : wordOf(message))).join(' ');
}

function literal(conversation: Conversation, options: Partial<RetryTruncationOptions> = {}) {
  return truncateHeadForRetry(conversation, { estimator: sized, policy: 'literal', ...options });
}

const gap = (excessTokens: number) => ({ overflow: { kind: 'prompt-too-long', excessTokens } });

/** What each call makes of the result of the one before, until nothing can go. */
function repeated(truncate: typeof literal): readonly (string | undefined)[] {
  const seen: (string | undefined)[] = [];
  let conversation: Conversation | undefined = records(RUN);
  while (conversation !== undefined && seen.length < 10) {
    conversation = truncate(conversation)?.conversation;
    seen.push(wordsOf(conversation));
  }
  return seen;
}

describe('retry after prompt-too-long (rows 12 to 18)', () => {
  const words = fc
    .array(fc.constantFrom('A', 'AT', 'AU'), { minLength: 1, maxLength: 12 })
    .map((list) =>
      [
        'U0',
        ...list.map(
          (one, n) => `A${n}${one === 'AT' ? `(c${n}) T(c${n})` : ''}${one === 'AU' ? ` U${n}` : ''}`,
        ),
      ].join(' '),
    );

  test.prop([words, fc.nat(200)])('row 12: what stays is a tail of whole rounds', (list, excessTokens) => {
    const conversation = records(list);
    const truncated = literal(conversation, { estimator, ...gap(excessTokens) });
    const kept = truncated?.conversation.messages.filter((message) => !isMarker(message)) ?? [];
    const tails = groupRounds(conversation.messages).map(({ start }) => conversation.messages.slice(start));

    expect(tails.slice(1).map((tail) => tail.map(wordOf))).toContainEqual(kept.map(wordOf));
  });

  it.each([
    [1, 'M A1(a) T(a) A2(b) T(b) A3(c) T(c) A4'],
    [100, 'M A1(a) T(a) A2(b) T(b) A3(c) T(c) A4'],
    [101, 'M A2(b) T(b) A3(c) T(c) A4'],
    [300, 'M A2(b) T(b) A3(c) T(c) A4'],
    [301, 'M A3(c) T(c) A4'],
    [800, 'M A3(c) T(c) A4'],
    [10_000, 'M A4'],
  ])('row 13: a gap of %d leaves %s', (excessTokens, kept) => {
    expect(wordsOf(literal(records(RUN), gap(excessTokens))?.conversation)).toBe(kept);
  });

  const fallback = [
    { from: 2, to: 9, dropped: 1 },
    { from: 10, to: 14, dropped: 2 },
    { from: 15, to: 15, dropped: 3 },
    { from: 50, to: 50, dropped: 10 },
    { from: 100, to: 100, dropped: 20 },
  ].flatMap(({ from, to, dropped }) =>
    Array.from({ length: to - from + 1 }, (_one, index) => ({ rounds: from + index, dropped })),
  );

  it.each(fallback)('row 14: without a number $dropped of $rounds rounds go, every time', (row) => {
    const talk = Array.from({ length: row.rounds - 1 }, (_one, index) => `A${index} U${index}`);
    const conversation = records(['U', ...talk].join(' '));
    const truncated = literal(conversation);

    expect(truncated?.droppedRounds).toHaveLength(row.dropped);
    expect(literal(conversation)).toEqual(truncated);
  });

  it.each(['literal', 'keep-preamble', 'oversized-first'] as const)(
    'row 15: under %s the newest round always stays',
    (policy) => {
      const truncated = literal(records(RUN), { policy, ...gap(10_000) });

      expect(wordsOf(truncated?.conversation)).toBe('M A4');
    },
  );

  it.each(['', 'U1', 'U1 U2', 'A1', 'A1(a) T(a)', 'A1 A1'])(
    'row 16: the one round of "%s" cannot go, so there is null',
    (list) => {
      expect(literal(records(list))).toBeNull();
      expect(literal(records(list), gap(10))).toBeNull();
    },
  );

  it('row 17: the marker of the last try goes first, so that every try gets further', () => {
    expect(repeated(literal)).toEqual([
      'M A1(a) T(a) A2(b) T(b) A3(c) T(c) A4',
      'M A2(b) T(b) A3(c) T(c) A4',
      'M A3(c) T(c) A4',
      'M A4',
      undefined,
    ]);
  });

  it('row 17: the marker of another program goes as well', () => {
    const marked = anthropic([{ role: 'user', content: FOREIGN_MARKER }, ...rawsOf(records('A1 U1 A2 U2'))]);

    expect(wordsOf(literal(marked)?.conversation)).toBe('M A2 U2');
  });

  it('row 18: a user message stands in front of an answer, and says what is missing', () => {
    const truncated = literal(records(RUN), gap(301));
    const [first, second] = truncated?.conversation.messages ?? [];

    expect([first?.role, second?.role]).toEqual(['user', 'assistant']);
    expect(textOf(first!.blocks[0]!)).toBe(truncated?.marker);
    expect(truncated?.marker).toContain('3 rounds');
  });
});

describe('how providers say it (row 19)', () => {
  it.each([
    ['prompt is too long: 213462 tokens > 200000 maximum', 13_462],
    ['prompt is too long: 208380 tokens > 200000 maximum', 8380],
    ['prompt is too long: 137500 tokens > 135000 maximum', 2500],
    ['PROMPT IS TOO LONG: 137500 TOKENS > 135000 MAXIMUM', 2500],
    ['400 {"error":{"message":"prompt is too long: 137500 tokens > 135000 maximum"}}', 2500],
    ['input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000', 8059],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5048 tokens (4048 in the messages, 1000 in the completion).",
      952,
    ],
    ['The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).', 147_690],
    [
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens",
      68_928,
    ],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 406_740],
    ['Prompt contains 200000 tokens, too large for model with 131072 maximum context length', 68_928],
    ["The input (516368 tokens) is longer than the model's context length (262144 tokens).", 254_224],
    ['prompt token count of 200000 exceeds the limit of 128000', 72_000],
    ['Your request exceeded model token limit: 256000 (requested: 300000)', 44_000],
    ['prompt too long; exceeded max context length by 100918 tokens', 100_918],
    ["Input length (265330) exceeds model's maximum context length (262144).", 3186],
    ['Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', 353],
  ])('row 19: "%s" is too much by %d', (message, tokens) => {
    expect(tokenGap(message)).toBe(tokens);
    expect(tokenGap(new Error('Failed after 3 attempts', { cause: new Error(message) }))).toBe(tokens);
  });

  it.each([
    'prompt is too long: 100 tokens > 200 maximum',
    'Your input exceeds the context window of this model.',
    'Input is too long for requested model',
    'Please reduce the length of the messages or completion.',
    'the request exceeds the available context size. try increasing the context size',
    'The number of tokens to keep from the initial prompt is greater than the context length',
    'invalid params, context window exceeds limit',
    'Range of input length should be [1, 98304]',
  ])('row 19: "%s" is an overflow that tells no number', (message) => {
    expect(parseOverflow(message)).toBeDefined();
    expect(tokenGap(message)).toBeUndefined();
  });

  it.each([
    'messages.3.content.0.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
    'A maximum of 100 PDF pages may be provided.',
    'Too much media: 101 images',
    'too many images and documents: 101 + 0 > 100',
  ])('row 19: "%s" asks for less media', (message) => {
    expect(parseOverflow(message, { status: 400 })).toMatchObject({ kind: 'media-limit' });
  });

  it.each([
    { message: 'generic error', status: undefined },
    { message: 'ThrottlingException: Too many tokens, please wait before trying again.', status: 429 },
    {
      message: 'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000',
      status: 429,
    },
    { message: 'Service unavailable', status: 503 },
  ])('row 19: "$message" is no overflow', ({ message, status }) => {
    expect(parseOverflow(message, { status })).toBeUndefined();
  });
});

describe('the loop and what it leaves (rows 20 to 22)', () => {
  /** Refuses so many requests, then answers. */
  function refusing(times: number) {
    const sent: Conversation[] = [];
    const recovered = recoverFromOverflow({
      conversation: toolSession(30),
      estimator,
      judge: parseOverflow,
      send(conversation) {
        sent.push(conversation);
        if (sent.length <= times) throw new Error('prompt is too long');
        return 'fine';
      },
    });
    return { sent, recovered };
  }

  it.each([
    { refusals: 0, requests: 1, status: 'sent' },
    { refusals: 2, requests: 3, status: 'sent' },
    { refusals: 3, requests: 4, status: 'sent' },
    { refusals: 4, requests: 4, status: 'failed' },
    { refusals: 9, requests: 4, status: 'failed' },
  ])('row 20: $refusals refusals make $requests requests, and it is $status', async (row) => {
    const { sent, recovered } = refusing(row.refusals);
    const outcome = await recovered;

    expect(outcome.status).toBe(row.status);
    expect(sent.length).toBe(row.requests);
    expect(sent.length).toBeLessThanOrEqual(MAX_OVERFLOW_RETRIES + 1);
    for (const [index, { messages }] of sent.entries())
      if (index > 0) expect(messages.length).toBeLessThan(sent[index - 1]!.messages.length);
    if (outcome.status === 'failed') {
      expect(outcome).toMatchObject({ reason: 'conversation-too-long', isRetryable: false });
      expect(outcome.message).not.toContain('prompt is too long');
    }
  });

  describe.each(Object.entries(writers))('in %s', (name, write) => {
    test.prop([steps, fc.nat(300), fc.constantFrom('literal', 'keep-preamble', 'oversized-first')], {
      numRuns: 60,
    })(
      'row 21: messages leave whole, no call loses its result, and the request is legal',
      (list, excessTokens, policy) => {
        const conversation = readConversation(deepFreeze(write(list)), name);
        const truncated = truncateHeadForRetry(conversation, {
          estimator,
          policy: policy as RetryPolicy,
          ...gap(excessTokens),
        });
        if (truncated === null || truncated.shortenedResults > 0) return;
        const { messages } = truncated.conversation;
        const before = new Set(rawsOf(conversation));

        expect(messages.filter(({ raw }) => !before.has(raw)).length).toBeLessThanOrEqual(1);
        expect(linkTools(messages)).toMatchObject({ orphans: [], unanswered: [] });
        expect(errorsOf(truncated.conversation, writeConversation(truncated.conversation))).toBe(0);
      },
    );
  });

  it.each([
    [1, 'U1 M A2(b) T(b) A3(c) T(c) A4'],
    [201, 'U1 M A3(c) T(c) A4'],
    [800, 'U1 M A4'],
  ])('row 22: the task survives a gap of %d: %s', (excessTokens, kept) => {
    const truncated = truncateHeadForRetry(records(RUN), {
      estimator: sized,
      policy: 'keep-preamble',
      marginFraction: 0,
      ...gap(excessTokens),
    });

    expect(wordsOf(truncated?.conversation)).toBe(kept);
  });

  it.each([
    [1, 'U1 A1(a) T(a) M A3(c) T(c) A4'],
    [501, 'U1 M A3(c) T(c) A4'],
    [800, 'U1 M A4'],
  ])('row 22: and so it does where the largest round goes first, gap %d: %s', (excessTokens, kept) => {
    const truncated = truncateHeadForRetry(records(RUN), {
      estimator: sized,
      marginFraction: 0,
      ...gap(excessTokens),
    });

    expect(wordsOf(truncated?.conversation)).toBe(kept);
  });

  it('row 22: the task goes only when all else has gone', () => {
    const truncate = (conversation: Conversation) => literal(conversation, { policy: 'keep-preamble' });

    expect(repeated(truncate)).toEqual([
      'U1 M A2(b) T(b) A3(c) T(c) A4',
      'U1 M A3(c) T(c) A4',
      'U1 M A4',
      'M A4',
      undefined,
    ]);
  });
});
