import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { truncateHeadForRetry } from '../../compaction/overflow/truncation.ts';
import { type Conversation, withMessages } from '../../conversation/format.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { parseOverflow } from '../../formats/overflow/detect.ts';
import { functionClient } from '../../providers/function.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { modelSummarizer } from './model.ts';
import type { ModelClient } from './model-client.ts';
import {
  answerOverflow,
  type ModelSummarizerOptions,
  materialOverflow,
  promptOverflow,
  summaryRequestBudget,
} from './summary-call.ts';

describe('summaryRequestBudget', () => {
  it.each([
    { window: 8192, inputTokens: 5120, outputTokens: 2560, marginTokens: 512 },
    { window: 16_000, inputTokens: 10_134, outputTokens: 5066, marginTokens: 800 },
    { window: 32_000, inputTokens: 20_267, outputTokens: 10_133, marginTokens: 1600 },
    { window: 128_000, inputTokens: 107_520, outputTokens: 16_384, marginTokens: 4096 },
    { window: 200_000, inputTokens: 179_520, outputTokens: 16_384, marginTokens: 4096 },
    { window: 1200, inputTokens: 256, outputTokens: 512, marginTokens: 512 },
  ])('divides a window of $window', ({ window, ...budget }) => {
    expect(summaryRequestBudget(window, 16_384)).toEqual(budget);
  });

  it.each([0, -1])('takes %i for unlimited', (window) => {
    expect(summaryRequestBudget(window, 16_384)).toEqual({
      inputTokens: Number.POSITIVE_INFINITY,
      outputTokens: 16_384,
      marginTokens: 0,
    });
  });
});

const estimator = createTokenEstimator();
const sizes = { promptTokens: 1000, materialTokens: 800 };

describe('what the refusal of a summary prompt means for the messages in it', () => {
  it.each([
    {
      why: 'both numbers are told, in tokens that are twice as small as ours',
      refusal: { actualTokens: 2000, limitTokens: 1500, excessTokens: 500 },
      expected: { actualTokens: 1600, limitTokens: 1100, excessTokens: 500 },
    },
    {
      why: 'only the excess is told',
      refusal: { excessTokens: 300 },
      expected: { actualTokens: 800, limitTokens: 500, excessTokens: 300 },
    },
    {
      why: 'only the limit is told, and we count more',
      refusal: { limitTokens: 900 },
      expected: { actualTokens: 800, limitTokens: 700, excessTokens: 100 },
    },
    {
      why: 'the answer that was asked for counts too',
      refusal: { limitTokens: 900, requestedOutputTokens: 200 },
      expected: { actualTokens: 800, limitTokens: 500, excessTokens: 300 },
    },
    {
      why: 'only the limit is told, and by our count it was kept',
      refusal: { limitTokens: 5000 },
      expected: { actualTokens: 800 },
    },
    { why: 'nothing is told', refusal: {}, expected: { actualTokens: 800 } },
    {
      why: 'the provider stopped counting',
      refusal: { actualTokens: 601, limitTokens: 600, countIsLowerBound: true },
      expected: { actualTokens: 800, limitTokens: 400, excessTokens: 400 },
    },
    {
      why: 'not even the instructions fit',
      refusal: { actualTokens: 1000, limitTokens: 100, excessTokens: 900 },
      expected: { actualTokens: 800, limitTokens: 0, excessTokens: 900 },
    },
  ])('is $expected.excessTokens of $expected.actualTokens where $why', ({ refusal, expected }) => {
    const kind = 'prompt-too-long';

    expect(materialOverflow({ kind, ...refusal }, sizes)).toEqual({ kind, ...expected });
  });

  it('is counted by ourselves where the prompt was not sent', () => {
    expect(promptOverflow(sizes, 600)).toEqual({
      kind: 'prompt-too-long',
      actualTokens: 800,
      limitTokens: 400,
      excessTokens: 400,
    });
  });

  it('is what the answer still wanted where the window was full before its end', () => {
    const usage = { promptTokens: 2000, outputTokens: 50 };

    expect(answerOverflow(usage, 250, sizes)).toEqual({
      kind: 'soft',
      actualTokens: 1600,
      limitTokens: 1400,
      excessTokens: 200,
    });
    expect(answerOverflow(undefined, 250, sizes)).toEqual({ kind: 'soft', actualTokens: 800 });
  });
});

/** A request body with many tools, and so many rounds of about the same size. */
function session(rounds: number): Conversation {
  const list = Array.from({ length: rounds }, (_, at) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${at}`, name: 'bash', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: `out ${at} word `.repeat(250) }],
    },
  ]);
  const tools = [{ name: 'bash', description: 'runs it '.repeat(3000), input_schema: { type: 'object' } }];
  return anthropicMessages.read(
    deepFreeze({ model: 'm', tools, messages: [{ role: 'user', content: 'do it' }, ...list.flat()] }),
  );
}

const good = '<summary>\nNOW\ngo on\nSTORY\nthe task was begun\n</summary>';

/** Counts as a provider does that needs a fifth more tokens than we estimate, and refuses what exceeds its limit. */
function strictClient(limitTokens: number, say: (tokens: number) => string) {
  const sent: number[] = [];
  const client = functionClient((request) => {
    const tokens = Math.round(estimator.countText(request.system + request.prompt) * 1.2);
    sent.push(tokens);
    if (tokens > limitTokens) throw new Error(say(tokens));
    return { text: good, stop: 'end', usage: { promptTokens: tokens, outputTokens: 50 } };
  });
  return { sent, client };
}

/** Summarises what of a conversation fits, as a caller does that has its messages leave oldest first. */
async function summariseWhatFits(
  client: ModelClient,
  conversation: Conversation,
  options: Partial<ModelSummarizerOptions> = {},
) {
  const summarizer = modelSummarizer(client, { overflowOf: parseOverflow, ...options });
  let input = conversation;
  for (let attempt = 1; ; attempt++) {
    const outcome = await summarizer.summarize({
      messages: input.messages,
      conversation,
      previousSummary: undefined,
      instructions: undefined,
      facts: 'a fact '.repeat(1000),
      maximumTokens: 2000,
      estimator,
      signal: undefined,
    });
    if (outcome.status === 'summarized' || attempt > 3) return { outcome, input, attempt };
    const { overflow } = outcome;
    const shorter = truncateHeadForRetry(withMessages(conversation, input.messages), {
      estimator,
      overflow,
      attempt,
      policy: 'keep-preamble',
      isSummaryInput: true,
    });
    if (shorter === null) return { outcome, input, attempt };
    input = shorter.conversation;
  }
}

describe('a summary request that is too long', () => {
  const conversation = session(40);

  it('is cut by the gap that the provider reports: the second request fits, with hardly less than possible', async () => {
    const { sent, client } = strictClient(30_000, (n) => `prompt is too long: ${n} tokens > 30000 maximum`);
    const { outcome, input } = await summariseWhatFits(client, conversation);

    expect(outcome.status).toBe('summarized');
    expect(sent).toHaveLength(2);
    expect(sent[0]).toBeGreaterThan(34_000);
    expect(sent[1]).toBeGreaterThan(30_000 * 0.9);
    expect(input.messages[0]).toBe(conversation.messages[0]);
  });

  it.each([
    { said: 'no number', say: () => 'prompt is too long', limit: 25_000 },
    { said: 'only its limit', say: () => 'maximum context length is 25000 tokens', limit: 25_000 },
    {
      said: 'only the excess',
      say: (n: number) => `exceeded max context length by ${n - 9000} tokens`,
      limit: 9000,
    },
  ])('takes four requests at most where the provider says $said', async ({ say, limit }) => {
    const { sent, client } = strictClient(limit, say);
    const { outcome } = await summariseWhatFits(client, conversation);

    expect(outcome.status).toBe('summarized');
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(sent.every((tokens, index) => index === 0 || tokens < sent[index - 1]!)).toBe(true);
  });

  it('is not even sent where the window is known, and the next one is', async () => {
    const { sent, client } = strictClient(12_000, () => 'prompt is too long');
    const { outcome, attempt } = await summariseWhatFits(client, conversation, { windowTokens: 10_000 });

    expect(outcome.status).toBe('summarized');
    expect(attempt).toBe(2);
    expect(sent).toHaveLength(1);
  });

  it('says by how much with every failure, and nothing of it with other failures', async () => {
    const fail = async (error: string, options: Partial<ModelSummarizerOptions> = {}) => {
      const client = functionClient(() => {
        throw new Error(error);
      });
      return (await summariseWhatFits(client, session(1), options)).outcome;
    };

    expect(await fail('prompt is too long: 3000 tokens > 2000 maximum')).toMatchObject({
      reason: 'input-too-long',
      overflow: { kind: 'prompt-too-long', excessTokens: 1000 },
    });
    expect(await fail('never asked', { windowTokens: 2000 })).toMatchObject({
      reason: 'input-too-long',
      overflow: { kind: 'prompt-too-long', excessTokens: expect.any(Number) },
    });
    expect(await fail('connection reset')).not.toHaveProperty('overflow');
  });

  it('counts behind a prefix by the messages alone, not by the tools of the agent', async () => {
    const client: ModelClient = functionClient(() => {
      throw new Error('prompt is too long: 60000 tokens > 50000 maximum');
    });
    const summarizer = modelSummarizer(client, { overflowOf: parseOverflow, reusesPrefix: true });
    const { messages } = conversation;
    const request = { messages, conversation, previousSummary: undefined, instructions: undefined };
    const outcome = await summarizer.summarize({
      ...request,
      maximumTokens: 2000,
      estimator,
      signal: undefined,
    });
    if (outcome.status !== 'failed') throw new Error('it did not fail');
    const share = (outcome.overflow?.actualTokens ?? 0) / 60_000;

    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(0.95);
    expect(outcome.overflow?.excessTokens).toBe(10_000);
  });
});

describe('a model summarizer that cannot tell what is too long', () => {
  it('is refused when it is made', () => {
    const options = {} as ModelSummarizerOptions;

    expect(() =>
      modelSummarizer(
        functionClient(() => ''),
        options,
      ),
    ).toThrow(expect.objectContaining({ code: 'usage', remedy: expect.stringContaining('parseOverflow') }));
  });
});
