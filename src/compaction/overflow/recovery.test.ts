import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import type { Conversation } from '../../conversation/format.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { parseOverflow } from '../../formats/overflow/detect.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { type OverflowRecoveryOptions, type OverflowRetry, recoverFromOverflow } from './recovery.ts';

const estimator = createTokenEstimator();

/** A question and `rounds` answers of about the same size, each with the next question behind it. */
function talk(rounds: number): Conversation {
  const messages: unknown[] = [{ role: 'user', content: 'the task' }];
  for (let index = 1; index <= rounds; index++) {
    messages.push({ role: 'assistant', content: `answer ${index} ${'word '.repeat(50)}` });
    messages.push({ role: 'user', content: `question ${index}` });
  }
  return anthropicMessages.read(deepFreeze(messages));
}

interface Sent {
  readonly conversation: Conversation;
  readonly maxOutputTokens: number | undefined;
}

/** Answers each request with the next of `script`: an error to throw, or anything else to give back. */
function provider(script: readonly unknown[]) {
  const sent: Sent[] = [];
  const send = async (
    conversation: Conversation,
    limits: { readonly maxOutputTokens: number | undefined },
  ) => {
    const next = script[sent.length];
    sent.push({ conversation, ...limits });
    if (next instanceof Error) throw next;
    return next;
  };
  return { sent, send };
}

function recover(script: readonly unknown[], options: Partial<OverflowRecoveryOptions<unknown>> = {}) {
  const { sent, send } = provider(script);
  const outcome = recoverFromOverflow({
    conversation: talk(20),
    send,
    judge: parseOverflow,
    estimator,
    ...options,
  });
  return { sent, outcome };
}

const tooLong = () => new Error('prompt is too long');
const over = (actual: number, limit: number) =>
  new Error(`400 {"error":{"message":"prompt is too long: ${actual} tokens > ${limit} maximum"}}`);
const tooMuchOutput = (input: number, output: number, limit: number) =>
  new Error(
    `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`,
  );

const lengths = (sent: readonly Sent[]) => sent.map(({ conversation }) => conversation.messages.length);
const shrinks = (values: readonly number[]) =>
  values.every((value, index) => index === 0 || value < (values[index - 1] ?? 0));

describe('recoverFromOverflow', () => {
  it('sends what it was given and nothing more when that fits', async () => {
    const conversation = talk(3);
    const { sent, outcome } = recover(['fine'], { conversation });

    expect(await outcome).toEqual({ status: 'sent', answer: 'fine', conversation, retries: [] });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.conversation).toBe(conversation);
  });

  it('refused twice and then answered makes three requests, each with fewer messages', async () => {
    const heard: OverflowRetry[] = [];
    const { sent, outcome } = recover([tooLong(), tooLong(), 'fine'], {
      onRetry: (retry) => heard.push(retry),
    });

    expect(await outcome).toMatchObject({ status: 'sent', answer: 'fine', retries: heard });
    expect(sent).toHaveLength(3);
    expect(shrinks(lengths(sent))).toBe(true);
    expect(await outcome).toHaveProperty('conversation', sent[2]?.conversation);
  });

  it('refused four times ends there, not retryable, with the first error as the cause', async () => {
    const errors = [tooLong(), tooLong(), tooLong(), tooLong(), 'never asked for'];
    const { sent, outcome } = recover(errors);
    const ended = await outcome;

    if (ended.status !== 'failed') throw new Error('it did not fail');
    expect(ended).toMatchObject({ reason: 'conversation-too-long', isRetryable: false });
    expect(ended.cause).toBe(errors[0]);
    expect(ended.message).toContain('after 3 retries');
    expect(sent).toHaveLength(4);
  });

  it.each([
    { maxRetries: 0, requests: 1 },
    { maxRetries: 1, requests: 2 },
  ])('makes $requests requests with maxRetries $maxRetries', async ({ maxRetries, requests }) => {
    const { sent, outcome } = recover([tooLong(), tooLong()], { maxRetries });

    expect(await outcome).toMatchObject({ status: 'failed' });
    expect(sent).toHaveLength(requests);
  });

  it('ends at once when nothing can go', async () => {
    const { sent, outcome } = recover([tooLong(), 'never asked for'], { conversation: talk(0) });

    expect(await outcome).toMatchObject({ status: 'failed', reason: 'conversation-too-long', retries: [] });
    expect(sent).toHaveLength(1);
  });

  it('tells every retry: what left, what remains, and by which measure', async () => {
    const conversation = talk(20);
    const tokens = Math.round(requestTokens(conversation, estimator));
    const { outcome } = recover([over(tokens, tokens - 100), tooLong(), 'fine'], { conversation });
    const { retries } = await outcome;

    expect(retries[0]).toMatchObject({
      attempt: 1,
      droppedRounds: [{ round: { index: 1 } }, { round: { index: 2 } }],
      shortenedRounds: [],
      droppedMessages: 4,
      remainingMessages: 38,
      fraction: undefined,
    });
    expect(retries[0]?.gapTokens).toBeCloseTo(110, 0);
    expect(retries[1]).toMatchObject({ attempt: 2, fraction: 0.4, gapTokens: undefined });
    expect(retries[0]?.receipt?.runs.map(({ fate }) => fate)).toEqual(['verbatim', 'dropped', 'verbatim']);
  });

  it('has a line for a log that names what was dropped, what was shortened and what broke the request', async () => {
    const tool = (id: string, content: string) => [
      { id, role: 'assistant', content: [{ type: 'tool_use', id, name: 'bash', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
    ];
    const conversation = anthropicMessages.read([
      { role: 'user', content: 'the task' },
      ...tool('m1', 'fine'),
      ...tool('m2', 'far too much '.repeat(3000)),
      ...tool('m3', 'fine'),
    ]);
    const tokens = Math.round(requestTokens(conversation, estimator));
    const { outcome } = recover([over(tokens, 5000), over(5001, 5000), 'sent'], { conversation });
    const [first, second] = (await outcome).retries;

    expect(first?.largestRound).toMatchObject({ round: { index: 2, responseId: 'm2', start: 3, end: 5 } });
    expect(first?.shortenedRounds).toEqual([first?.largestRound]);
    expect(first?.message).toMatch(
      /^retry 1: too long by [\d,]+ tokens; the largest was (round 2 \(m2, messages 3–4, [\d,]+ tokens\)); shortened \1$/,
    );
    expect(second?.message).toMatch(/^retry 2: too long by 1 tokens; the largest was round 2 /);
  });

  it('names no more than a few rounds in that line, and all of them beside it', async () => {
    const { outcome } = recover([tooLong(), 'fine'], { conversation: talk(60) });
    const [retry] = (await outcome).retries;

    expect(retry?.droppedRounds).toHaveLength(12);
    expect(retry?.message).toMatch(/; dropped round 1 .*, round 5 \([^)]*\), 7 more$/);
  });

  it('names the largest round when nothing helps', async () => {
    const { outcome } = recover([tooLong()], { conversation: talk(0) });

    expect(await outcome).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('the largest part is round 0 (preamble, message 0, '),
      largestRound: { round: { index: 0, kind: 'preamble' } },
    });
  });

  it('judges each refusal anew', async () => {
    const conversation = talk(20);
    const tokens = Math.round(requestTokens(conversation, estimator));
    const { sent, outcome } = recover([tooLong(), over(tokens, tokens * 0.1), 'fine'], { conversation });

    expect((await outcome).retries.map(({ fraction }) => fraction)).toEqual([0.2, undefined]);
    expect(requestTokens(sent[2]!.conversation, estimator)).toBeLessThan(tokens * 0.2);
  });

  it.each([
    { name: 'another error', error: new Error('connection reset') },
    { name: 'a rate limit', error: Object.assign(new Error('rate limit reached'), { status: 429 }) },
    { name: 'too many images', error: new Error('messages: too many images and documents: 101 + 0 > 100') },
  ])('passes $name on as it is, at the first request and later', async ({ error }) => {
    await expect(recover([error]).outcome).rejects.toBe(error);
    await expect(recover([tooLong(), error]).outcome).rejects.toBe(error);
  });

  it('takes a send that throws at once like one that rejects', async () => {
    const outcome = await recoverFromOverflow({
      conversation: talk(0),
      send: () => {
        throw tooLong();
      },
      judge: parseOverflow,
      estimator,
    });

    expect(outcome.status).toBe('failed');
  });
});

describe('when the output is what does not fit', () => {
  it('lowers the output limit to what is left, and touches no history', async () => {
    const conversation = talk(5);
    const { sent, outcome } = recover([tooMuchOutput(190_000, 20_000, 200_000), 'fine'], {
      conversation,
      maxOutputTokens: 20_000,
    });

    expect(await outcome).toMatchObject({ status: 'sent', conversation });
    expect(sent.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([20_000, 10_000]);
    expect(sent[1]?.conversation).toBe(conversation);
    expect((await outcome).retries).toMatchObject([
      { attempt: 1, droppedRounds: [], remainingMessages: 11, maxOutputTokens: 10_000, receipt: undefined },
    ]);
  });

  it('halves it when the provider stopped counting', async () => {
    const judge = () => ({
      kind: 'output-too-large',
      actualTokens: 30_001,
      limitTokens: 40_000,
      requestedOutputTokens: 10_000,
      countIsLowerBound: true,
    });
    const { sent, outcome } = recover([new Error('no'), 'fine'], { judge });

    expect((await outcome).status).toBe('sent');
    expect(sent[1]?.maxOutputTokens).toBe(5000);
  });

  it.each([
    { why: 'too little would be left', errors: [tooMuchOutput(199_900, 20_000, 200_000)] },
    {
      why: 'a lower limit was refused too',
      errors: [tooMuchOutput(190_000, 20_000, 200_000), tooMuchOutput(190_500, 10_000, 200_000)],
    },
  ])('drops rounds instead when $why', async ({ errors }) => {
    const { sent, outcome } = recover([...errors, 'fine'], { maxOutputTokens: 20_000 });

    expect((await outcome).status).toBe('sent');
    expect(sent.at(-1)!.conversation.messages.length).toBeLessThan(41);
    expect(sent.at(-1)!.maxOutputTokens).toBe(sent.at(-2)!.maxOutputTokens);
  });
});

describe('the cost of retries', () => {
  const refusals = fc.array(fc.option(fc.integer({ min: 1, max: 500 })), { minLength: 4, maxLength: 4 });

  test.prop([fc.integer({ min: 8, max: 60 }), refusals])(
    'all retries together are smaller than twice the first request, with and without numbers',
    async (rounds, gaps) => {
      const conversation = talk(rounds);
      const errors = gaps.map((gap) => (gap === null ? tooLong() : over(10_000 + gap, 10_000)));
      const { sent, outcome } = recover(errors, { conversation });
      await outcome;
      const [first = 0, ...retries] = sent.map((each) => requestTokens(each.conversation, estimator));

      expect(sent.length).toBeLessThanOrEqual(4);
      expect(shrinks(lengths(sent))).toBe(true);
      expect(retries.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThan(2 * first);
    },
  );

  it('the half that goes is never made of the task and the last question', async () => {
    const long = 'word '.repeat(400);
    const conversation = anthropicMessages.read([
      { role: 'user', content: `the task ${long}` },
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'and then?' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'and then?' },
      { role: 'assistant', content: 'three' },
      { role: 'user', content: `the last question ${long}` },
    ]);
    const { sent, outcome } = recover([over(10_001, 10_000), over(10_001, 10_000), 'fine'], { conversation });

    expect(await outcome).toMatchObject({ status: 'sent' });
    expect(sent[2]?.conversation.messages).toHaveLength(4);
    expect(sent[2]?.conversation.messages[0]).toBe(conversation.messages[0]);
    expect(sent[2]?.conversation.messages[3]?.raw).toBe(conversation.messages[6]?.raw);
  });
});
