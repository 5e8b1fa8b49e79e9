import { describe, expect, it } from 'vitest';
import { type Overflow, parseOverflow, tokenGap } from '../../src/formats/overflow/detect.ts';
import { detectSoftOverflow, readAnswer } from '../../src/formats/overflow/soft.ts';
import { type OverflowFixture, otherRefusals, overflowResponses } from '../fixtures/overflow.ts';

/** What was found, without the words and the row that found it. */
function facts(overflow: Overflow | undefined): Omit<Overflow, 'message' | 'provider'> | undefined {
  if (overflow === undefined) return undefined;
  const { message: _message, provider: _provider, ...rest } = overflow;
  return rest;
}

/** The same response as each client would hand it over. */
function deliveries({ status, body }: OverflowFixture): ReadonlyMap<string, Overflow | undefined> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sdkError = Object.assign(new Error(`${status} ${text}`), { status, error: body });
  const callError = Object.assign(new Error('Bad request'), { statusCode: status, responseBody: text });
  return new Map([
    ['a parsed body with its status', parseOverflow(body, { status })],
    ['a body as text with its status', parseOverflow(text, { status })],
    ['the error of a provider SDK', parseOverflow(sdkError)],
    ['the error of the AI SDK', parseOverflow(callError)],
    [
      'a retry error around it',
      parseOverflow(Object.assign(new Error('Failed after 3 attempts'), { lastError: callError })),
    ],
  ]);
}

describe.each(overflowResponses)('the refusal of $provider', (fixture) => {
  it.each([...deliveries(fixture)])('is read from %s', (_, overflow) => {
    expect(facts(overflow)).toEqual(fixture.expected);
  });
});

describe('a refusal for another reason', () => {
  it.each(otherRefusals)('is no overflow: $provider', (fixture) => {
    expect(new Set(deliveries(fixture).values())).toEqual(new Set([undefined]));
  });
});

describe('an overflow that is told in a stream', () => {
  const failed = {
    type: 'response.failed',
    sequence_number: 2,
    response: {
      id: 'resp_fixture',
      object: 'response',
      status: 'failed',
      error: {
        code: 'context_length_exceeded',
        message:
          'Your input exceeds the context window of this model. Please adjust your input and try again.',
      },
      output: [],
    },
  };

  it.each([
    { name: 'response.failed', payload: failed },
    { name: 'response.failed as text', payload: JSON.stringify(failed) },
    {
      name: 'a Responses error event',
      payload: { type: 'error', code: 'context_length_exceeded', message: '', param: null },
    },
    {
      name: 'an Anthropic error event',
      payload: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long' } },
    },
    {
      name: 'a Chat chunk with an error',
      payload: { error: { message: 'Context size has been exceeded.', type: 'server_error' } },
    },
    {
      name: 'the text of a whole stream',
      payload: `event: response.created\ndata: {"type":"response.created"}\n\nevent: response.failed\ndata: ${JSON.stringify(failed)}\n\n`,
    },
  ])('$name, after HTTP 200, is an overflow', ({ payload }) => {
    expect(parseOverflow(payload, { status: 200 })?.kind).toBe('prompt-too-long');
  });

  it.each([
    'insufficient_quota',
    'rate_limit_exceeded',
    'server_is_overloaded',
    'server_error',
    'invalid_prompt',
  ])('a stream that failed with %s is none', (code) => {
    const payload = { ...failed, response: { ...failed.response, error: { code, message: 'no' } } };

    expect(parseOverflow(payload, { status: 200 })).toBeUndefined();
  });

  it('a stream in which the model merely speaks of an overflow is none', () => {
    const delta = { type: 'response.output_text.delta', delta: 'prompt is too long: 5 tokens > 4 maximum' };
    const stream = `data: ${JSON.stringify(delta)}\n\ndata: ${JSON.stringify(delta)}\n\n`;

    expect(parseOverflow(delta)).toBeUndefined();
    expect(parseOverflow(stream, { status: 200 })).toBeUndefined();
  });
});

describe('an overflow that less output cures', () => {
  it.each([
    {
      why: 'prompt below, sum above',
      actual: 188_059,
      output: 20_000,
      kind: 'output-too-large',
      excess: 8059,
    },
    { why: 'prompt one below the limit', actual: 199_999, output: 2, kind: 'output-too-large', excess: 1 },
    { why: 'prompt at the limit', actual: 200_000, output: 20_000, kind: 'prompt-too-long', excess: 20_000 },
    { why: 'prompt above', actual: 210_000, output: 20_000, kind: 'prompt-too-long', excess: 30_000 },
    { why: 'nothing above', actual: 100, output: 20_000, kind: 'prompt-too-long', excess: undefined },
  ])('$why: $kind', ({ actual, output, kind, excess }) => {
    const message = `input length and \`max_tokens\` exceed context limit: ${actual} + ${output} > 200000`;

    expect(parseOverflow(message)).toMatchObject({
      kind,
      actualTokens: actual,
      requestedOutputTokens: output,
    });
    expect(parseOverflow(message)?.excessTokens).toBe(excess);
  });
});

describe('an overflow that nobody tells', () => {
  it('finds the truncation of Ollama by the token count', () => {
    const body = {
      model: 'llama3.1',
      message: { role: 'assistant', content: 'Sure.' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 4050,
      eval_count: 3,
    };
    const answer = { ...readAnswer(body), estimatedPromptTokens: 61_000 };

    expect(detectSoftOverflow(answer)).toMatchObject({
      kind: 'soft',
      provider: 'ollama',
      actualTokens: 4050,
    });
  });

  it('finds it through the compatible endpoint when the count is about num_ctx', () => {
    const body = {
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Sure.' } }],
      usage: { prompt_tokens: 4090, completion_tokens: 3 },
    };

    expect(detectSoftOverflow({ ...readAnswer(body), windowTokens: 4096 })).toMatchObject({
      kind: 'soft',
      actualTokens: 4090,
      limitTokens: 4096,
    });
  });

  it('takes the empty stream of LM Studio for a full context', () => {
    expect(detectSoftOverflow({ hasContent: false })).toMatchObject({ kind: 'soft', provider: 'lm-studio' });
  });

  it('takes the stop reason of Claude for what it says', () => {
    const body = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'and then' }],
      stop_reason: 'model_context_window_exceeded',
      usage: {
        input_tokens: 20,
        cache_read_input_tokens: 190_000,
        cache_creation_input_tokens: 980,
        output_tokens: 9000,
      },
    };

    expect(detectSoftOverflow({ ...readAnswer(body), windowTokens: 200_000 })).toMatchObject({
      kind: 'soft',
      provider: 'anthropic',
      actualTokens: 191_000,
      limitTokens: 200_000,
      excessTokens: undefined,
    });
  });
});

describe('a refusal that time cures', () => {
  const overflow = { error: { message: 'prompt is too long: 213462 tokens > 200000 maximum' } };

  it.each([401, 403, 404, 500, 502, 503, 504, 529])(
    'HTTP %d is never about size, whatever the body quotes',
    (status) => {
      expect(parseOverflow(overflow, { status })).toBeUndefined();
      expect(
        parseOverflow({ error: { ...overflow.error, code: 'context_length_exceeded' } }, { status }),
      ).toBeUndefined();
    },
  );

  it('HTTP 429 is a matter of waiting', () => {
    expect(parseOverflow(overflow, { status: 429 })).toBeUndefined();
  });

  it.each([
    { limit: 30_000, requested: 30_001, kind: 'rate-window' },
    { limit: 30_000, requested: 30_000, kind: undefined },
    { limit: 30_000, requested: 12, kind: undefined },
    { limit: 0, requested: 12, kind: undefined },
  ])('a request of $requested tokens against $limit per minute: $kind', ({ limit, requested, kind }) => {
    const message = `Request too large for gpt-4o on tokens per min (TPM): Limit ${limit}, Requested ${requested}.`;
    const body = { error: { message, type: 'tokens', code: 'rate_limit_exceeded' } };

    expect(parseOverflow(body, { status: 429 })?.kind).toBe(kind);
    expect(parseOverflow(message)?.kind).toBe(kind);
  });
});

describe('the gap between size and limit', () => {
  it.each([
    { error: 'prompt is too long: 137500 tokens > 135000 maximum', gap: 2500 },
    { error: 'PROMPT IS TOO LONG: 137500 TOKENS > 135000 MAXIMUM', gap: 2500 },
    { error: 'prompt is too long, counted 137500 tokens > 135000', gap: 2500 },
    {
      error:
        '400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 137500 tokens > 135000 maximum"}}',
      gap: 2500,
    },
    { error: 'prompt is too long: 100 tokens > 200 maximum', gap: undefined },
    { error: 'prompt is too long: 200 tokens > 200 maximum', gap: undefined },
    { error: 'prompt is too long', gap: undefined },
    { error: 'generic error', gap: undefined },
    { error: 'prompt is too long: 208380 tokens > 200000 maximum', gap: 8380 },
    { error: 'input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000', gap: 8059 },
    { error: 'maximum context length is 4096 tokens. However, you requested 5048 tokens (…)', gap: 952 },
    { error: 'prompt too long; exceeded max context length by 100918 tokens', gap: 100_918 },
    {
      error:
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens",
      gap: 68_928,
    },
    {
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      gap: 406_740,
    },
    {
      error: "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
      gap: 254_224,
    },
    { error: "Input length (265330) exceeds model's maximum context length (262144).", gap: 3186 },
    { error: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', gap: 353 },
    { error: undefined, gap: undefined },
  ])('the gap of "$error" is $gap', ({ error, gap }) => {
    expect(tokenGap(error)).toBe(gap);
    expect(tokenGap(new Error('request failed', { cause: error }))).toBe(gap);
  });

  it.each([
    'prompt is too long: 100 tokens > 200 maximum',
    'Please reduce the length of the messages or completion.',
    'the request exceeds the available context size. try increasing the context size',
    'Range of input length should be [1, 98304]',
  ])('nobody knows it of "%s", which is an overflow all the same', (message) => {
    expect(parseOverflow(message)).toBeDefined();
    expect(tokenGap(message)).toBeUndefined();
  });
});

describe('a refusal that less media cures', () => {
  it.each([
    'messages.3.content.0.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
    'A maximum of 100 PDF pages may be provided.',
    'Too much media: 101 images',
    'too many images and documents: 101 + 0 > 100',
  ])('is told from one that asks for less text: "%s"', (message) => {
    expect(parseOverflow(message, { status: 400 })).toMatchObject({ kind: 'media-limit' });
  });
});
