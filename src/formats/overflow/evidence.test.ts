import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseOverflow } from './detect.ts';

const message = 'prompt is too long: 213462 tokens > 200000 maximum';

/** The message inside of `depth` errors, each the cause of the next. */
function wrapped(depth: number): unknown {
  let error: unknown = { message };
  for (let level = 0; level < depth; level++) error = new Error('outer', { cause: error });
  return error;
}

describe('places where an overflow is found', () => {
  it.each([
    { place: 'a string', error: message },
    { place: 'a message', error: new Error(message) },
    {
      place: 'a message with JSON behind a prefix',
      error: new Error(`400 ${JSON.stringify({ error: { message } })}`),
    },
    { place: 'a body as text', error: { responseBody: JSON.stringify({ error: { message } }) } },
    { place: 'a body cut off in the middle', error: { body: `{"error":{"message":"${message}","det` } },
    { place: 'a Python dictionary', error: `Error code: 400 - {'error': {'message': '${message}'}}` },
    { place: 'a cause', error: new Error('x', { cause: new Error(message) }) },
    { place: 'an aggregate', error: new AggregateError([new Error('first'), new Error(message)]) },
    {
      place: 'a response of axios',
      error: { message: 'Request failed', response: { status: 400, data: { error: message } } },
    },
    { place: 'Google details', error: { errorDetails: [{ '@type': 'x' }, { detail: message }] } },
    { place: 'an event frame', error: { event: 'error', data: JSON.stringify({ error: { message } }) } },
    { place: 'the far end of a long text', error: `${'x'.repeat(1_000_000)} ${message}` },
    { place: 'the near end of a long text', error: `${message} ${'x'.repeat(1_000_000)}` },
    { place: 'a body beside a huge message', error: { message: 'x'.repeat(5_000_000), body: { message } } },
    {
      place: 'a gateway error inside a retry error',
      error: {
        lastError: {
          statusCode: 400,
          responseBody: JSON.stringify({
            error: {
              message: 'Provider returned error',
              metadata: { raw: JSON.stringify({ error: { message } }) },
            },
          }),
        },
      },
    },
  ])('$place', ({ error }) => {
    expect(parseOverflow(error)).toMatchObject({ kind: 'prompt-too-long', excessTokens: 13_462 });
  });

  it('goes six levels deep and no further', () => {
    expect(parseOverflow(wrapped(6))?.excessTokens).toBe(13_462);
    expect(parseOverflow(wrapped(7))).toBeUndefined();
  });

  it('prefers the statement that has numbers', () => {
    const error = { message: 'context_length_exceeded', cause: { message } };

    expect(parseOverflow(error)).toMatchObject({ limitTokens: 200_000 });
  });

  it('does not take a successful answer that quotes an error for one', () => {
    const body = {
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: message } }],
    };

    expect(parseOverflow(body)).toBeUndefined();
    expect(parseOverflow(JSON.stringify(body))).toBeUndefined();
  });
});

describe('hostile errors', () => {
  it('ends on cycles', () => {
    const error: { cause?: unknown; errors?: unknown[] } = {};
    error.cause = error;
    error.errors = [error, [error.errors]];

    expect(parseOverflow(error)).toBeUndefined();
  });

  it('reads an object once, however often it is met', () => {
    let reads = 0;
    const error = {
      get message() {
        reads++;
        return 'x';
      },
      error: undefined as unknown,
      cause: undefined as unknown,
    };
    error.error = error;
    error.cause = [error, { error }];

    parseOverflow(error);

    expect(reads).toBe(1);
  });

  it('skips a getter that throws and reads the rest', () => {
    const error = Object.defineProperty({ body: { message } }, 'message', {
      get() {
        throw new Error('no');
      },
    });

    expect(parseOverflow(error)?.excessTokens).toBe(13_462);
  });

  it('survives proxies that throw at every touch, and revoked ones', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const handler = new Proxy(
      {},
      {
        get: () => () => {
          throw new Error('no');
        },
      },
    );

    expect(parseOverflow(proxy)).toBeUndefined();
    expect(parseOverflow(new Proxy({}, handler))).toBeUndefined();
    expect(parseOverflow({ error: proxy, message })?.excessTokens).toBe(13_462);
  });

  it('looks at a bounded number of objects', () => {
    let reads = 0;
    const counted = (): object =>
      Object.defineProperty({}, 'message', {
        get() {
          reads++;
          return 'x';
        },
      });
    const lists = Array.from({ length: 16 }, () => Array.from({ length: 16 }, counted));

    parseOverflow([lists, lists.map((list) => [...list])]);

    expect(reads).toBeLessThanOrEqual(100);
  });

  it('leaves the error as it was', () => {
    const error = Object.freeze({ error: Object.freeze({ message }), errors: Object.freeze([]) });

    expect(() => parseOverflow(error)).not.toThrow();
  });

  test.prop([fc.anything({ withNullPrototype: true, withObjectString: true })])('never throws', (value) => {
    expect(() => parseOverflow(value)).not.toThrow();
    expect(() => parseOverflow({ error: value, message: value, status: value, code: value })).not.toThrow();
  });
});
