import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { geminiContract } from '../../src/contracts/registry.ts';
import { countReads } from '../support/count-reads.ts';

const { check } = geminiContract;

/** 'u' a user's text, 'm' a model's text, a digit so many calls of the model, a letter from 'a' on so many responses. */
function contents(shape: string): readonly object[] {
  return [...shape].map((letter) => {
    if (letter === 'u') return { role: 'user', parts: [{ text: 'hello' }] };
    if (letter === 'm') return { role: 'model', parts: [{ text: 'hello' }] };
    const count = Number(letter);
    if (count > 0) return { role: 'model', parts: Array.from({ length: count }, functionCall) };
    return { role: 'user', parts: Array.from({ length: 'abcdefghi'.indexOf(letter) + 1 }, functionResponse) };
  });
}

function functionCall() {
  return { functionCall: { name: 'probe', args: {} } };
}

function functionResponse() {
  return { functionResponse: { id: 'probe-1', name: 'probe', response: {} } };
}

function rulesOf(shape: string, context = {}): readonly string[] {
  return check({ contents: contents(shape) }, context).map(({ rule, path }) => `${rule} ${path}`);
}

describe('gemini rules', () => {
  it.each([
    { shape: 'u1au2bm', found: [], why: 'every batch is answered' },
    { shape: 'uu1a', found: [], why: 'two user contents may stand together' },
    { shape: 'um1a', found: [], why: 'a text of the model may stand before its calls' },
    { shape: 'mu1a', found: [], why: 'the model may speak first' },
    { shape: 'm1a', found: ['tool-call-out-of-turn contents[1]'], why: 'no user stands before the calls' },
    {
      shape: 'u1u',
      found: ['tool-call-without-result contents[1]'],
      why: 'a text stands where the response should',
    },
    {
      shape: 'u1ua',
      found: ['tool-call-without-result contents[1]', 'tool-result-without-call contents[3]'],
      why: 'a text tears call and response apart',
    },
    {
      shape: 'u3ab',
      found: ['tool-results-miscounted contents[1]'],
      why: 'the rest of a split batch is the same fault',
    },
    {
      shape: 'u1ab',
      found: ['tool-result-without-call contents[3]'],
      why: 'further responses answer nothing',
    },
    {
      shape: 'u1b',
      found: ['tool-results-miscounted contents[1]'],
      why: 'there are more responses than calls',
    },
    {
      shape: 'au1m',
      found: ['tool-result-without-call contents[0]', 'tool-call-without-result contents[2]'],
      why: 'each fault is listed in order',
    },
  ])('finds $found in $shape: $why', ({ shape, found }) => {
    expect(rulesOf(shape)).toEqual(found);
  });

  it.each([
    { model: 'gemini-2.5-pro', missing: 0 },
    { model: 'gemini-3-pro-preview', missing: 2 },
    { model: 'models/gemini-4-argon', missing: 2 },
    { model: 'gemma-3-27b', missing: 0 },
    { model: undefined, missing: 0 },
  ])('wants $missing signatures in the current turn of $model', ({ model, missing }) => {
    expect(rulesOf('u1amu2b1a', { model })).toHaveLength(missing);
  });

  it('takes a user text beside a response for the beginning of a turn', () => {
    const [ask, calls, ...rest] = contents('u1a1a');
    const mixed = { role: 'user', parts: [functionResponse(), { text: 'Stop after this one.' }] };
    const context = { model: 'gemini-3.1-pro' };

    expect(check({ contents: [ask, calls, ...rest] }, context)).toHaveLength(2);
    expect(check({ contents: [ask, calls, mixed, ...rest.slice(1)] }, context)).toHaveLength(1);
  });

  it.each([
    { why: 'null as body', body: null, found: ['wrong-kind-of-value body'] },
    { why: 'no contents', body: {}, found: ['no-messages contents'] },
    { why: 'contents that are a text', body: { contents: 'hi' }, found: ['wrong-kind-of-value contents'] },
    {
      why: 'a content that is a text',
      body: { contents: ['hi'] },
      found: ['wrong-kind-of-value contents[0]'],
    },
    {
      why: 'parts that are a text',
      body: { contents: [{ parts: 'hi' }] },
      found: ['wrong-kind-of-value contents[0].parts'],
    },
    {
      why: 'a part that is a text',
      body: { contents: [{ parts: ['hi'] }] },
      found: ['wrong-kind-of-value contents[0].parts[0]'],
    },
    {
      why: 'an empty part of the instruction',
      body: { contents: contents('u'), systemInstruction: { parts: [{}] } },
      found: ['empty-part system_instruction.parts[0]'],
    },
    {
      why: 'an unanswered call under its snake-case name',
      body: {
        contents: [...contents('u'), { role: 'model', parts: [{ function_call: { name: 'probe' } }] }],
      },
      found: ['tool-call-without-result contents[1]'],
    },
    {
      why: 'a signature that is no text',
      body: { contents: [...contents('u'), { role: 'model', parts: [{ text: 'hi', thoughtSignature: 3 }] }] },
      found: ['thought-signature-invalid contents[1].parts[0]'],
    },
  ])('reports $why', ({ body, found }) => {
    expect(check(body).map(({ rule, path }) => `${rule} ${path}`)).toEqual(found);
  });

  it.each([
    { why: 'an empty text', parts: [{ text: '' }], context: {} },
    {
      why: 'a foreign signature in an earlier turn',
      parts: [{ text: 'hi', thoughtSignature: 'AAAA' }],
      context: { seals: () => 'foreign-prefix' as const },
    },
  ])('only warns about $why', ({ parts, context }) => {
    const body = { contents: [...contents('u'), { role: 'model', parts }, ...contents('u')] };

    expect(check(body, context)).toMatchObject([{ severity: 'warning', path: 'contents[1].parts[0]' }]);
  });

  it('leaves the frame out when only the contents are known, and takes them as a bare list', () => {
    const frame = { tools: [{}], systemInstruction: { parts: [{}] } };

    expect(check({ ...frame, contents: contents('u') })).toHaveLength(2);
    expect(check({ ...frame, contents: contents('u') }, { scope: 'messages' })).toEqual([]);
    expect(check(contents('1a'), { scope: 'messages' })).toMatchObject([{ rule: 'tool-call-out-of-turn' }]);
  });
});

describe('gemini properties', () => {
  const rounds = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });

  function shapeOf(sizes: readonly number[]): string {
    return sizes.map((size) => `u${size}${'abcd'[size - 1]}`).join('');
  }

  test.prop([rounds, fc.nat()])('reports the loss of any call or response content', (sizes, pick) => {
    const shape = shapeOf(sizes);
    const positions = [...shape].flatMap((letter, index) => (letter === 'u' ? [] : index));
    const lost = positions[pick % positions.length] ?? 0;
    const rest = shape.slice(0, lost) + shape.slice(lost + 1);

    expect(rulesOf(shape)).toEqual([]);
    expect(rulesOf(rest)).toHaveLength(1);
  });

  test.prop([rounds, fc.nat()])('reports the loss of any one response part', (sizes, pick) => {
    const shape = shapeOf(sizes);
    const round = pick % sizes.length;
    const all = contents(shape).map((content, index) =>
      index === round * 3 + 2
        ? { role: 'user', parts: [...(content as { parts: [] }).parts.slice(1), { text: 'hm' }] }
        : content,
    );

    const rule = sizes[round] === 1 ? 'tool-call-without-result' : 'tool-results-miscounted';
    expect(check({ contents: all })).toMatchObject([{ rule, path: `contents[${round * 3 + 1}]` }]);
  });

  it.each(['u2b', '1', 'a'])(
    'reads every content a fixed number of times, however often %s is repeated',
    (shape) => {
      expect(readsPerContent(shape, 2000)).toBeCloseTo(readsPerContent(shape, 200), 0);
    },
  );

  function readsPerContent(shape: string, times: number): number {
    const list = contents(shape.repeat(times));
    const reads = countReads({ contents: list }, (body) => check(body, { model: 'gemini-3-pro-preview' }));
    return reads / list.length;
  }
});
