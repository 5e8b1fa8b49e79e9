import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { writeConversation } from '../../conversation/format.ts';
import { type Block, textOf } from '../../conversation/message.ts';
import { aiSdkUi } from './ui.ts';

function answer(...parts: readonly unknown[]) {
  return aiSdkUi.readMessage({ id: 'm1', role: 'assistant', parts });
}

function toolPart(state: string, more: object = {}) {
  return { type: 'tool-probe', toolCallId: 'a', state, input: { n: 1 }, ...more };
}

function partsOf(raw: unknown): readonly unknown[] {
  return (raw as { parts: readonly unknown[] }).parts;
}

function callOf(blocks: readonly Block[]) {
  const call = blocks.find((block) => block.type === 'tool-call');
  return call!;
}

describe('UI messages', () => {
  it.each([
    { part: toolPart('input-streaming', { input: undefined, rawInput: '{"n"' }), result: undefined },
    { part: toolPart('input-available'), result: undefined },
    { part: toolPart('approval-requested', { approval: { id: 'x' } }), result: undefined },
    { part: toolPart('approval-responded', { approval: { id: 'x', approved: true } }), result: undefined },
    {
      part: toolPart('approval-responded', { approval: { approved: false, reason: 'no' } }),
      result: { isError: true, text: 'no' },
    },
    {
      part: toolPart('output-available', { output: { ok: true } }),
      result: { isError: false, text: '{"ok":true}' },
    },
    { part: toolPart('output-available', { output: 'fine' }), result: { isError: false, text: 'fine' } },
    { part: toolPart('output-available'), result: { isError: false, text: '' } },
    { part: toolPart('output-error', { errorText: 'broken' }), result: { isError: true, text: 'broken' } },
    { part: toolPart('output-denied'), result: { isError: true, text: 'Tool call execution denied.' } },
  ])('reads a tool in the state $part.state, case $#', ({ part, result }) => {
    const [call, answered, ...others] = answer(part).blocks;

    expect(call).toMatchObject({ type: 'tool-call', id: 'a', name: 'probe', runBy: 'server', raw: part });
    expect(others).toEqual([]);
    expect(answered === undefined ? undefined : textOf(answered)).toBe(result?.text);
    if (result === undefined) return;
    expect(answered).toMatchObject({ callId: 'a', isError: result.isError, runBy: 'server', raw: part });
  });

  it('takes the input that could not be read for the input', () => {
    expect(answer(toolPart('output-error', { input: undefined, rawInput: '{"n"' })).blocks[0]).toMatchObject({
      input: '{"n"',
    });
  });

  it.each([
    { type: 'source-url', url: 'https://a.example' },
    { type: 'source-document', title: 'plan' },
    { type: 'data-chart', data: { points: [1, 2, 3] } },
  ])('does not count $type, which is only shown', (part) => {
    expect(answer({ type: 'text', text: 'hi' }, part).blocks).toHaveLength(1);
  });

  it('does not take a message of nothing but shown parts for empty', () => {
    expect(answer({ type: 'data-chart', data: 1 }).blocks).toMatchObject([{ wireType: 'data-chart' }]);
  });

  it('reads what the user threw in while the answer was being written', () => {
    const part = { type: 'steering-message', id: 's', parts: [{ type: 'text', text: 'only winter' }] };

    expect(answer(part).blocks).toEqual([{ type: 'text', text: 'only winter', raw: part }]);
  });

  it('names the response by the id of the answer', () => {
    expect(answer({ type: 'text', text: 'hi' }).responseId).toBe('m1');
    expect(aiSdkUi.readMessage({ id: 'm0', role: 'user', parts: [] }).responseId).toBeUndefined();
  });
});

describe('UI messages with other blocks', () => {
  const step = { type: 'step-start' };
  const shown = { type: 'data-log', data: [1] };
  const before = { type: 'text', text: 'before' };
  const tool = toolPart('output-available', { output: 1 });
  const after = { type: 'text', text: 'after' };

  it.each([
    { why: 'the tool goes', drop: [tool], parts: [step, before, shown, after] },
    { why: 'the text before it goes', drop: [before], parts: [step, tool, shown, after] },
    { why: 'all text goes', drop: [before, after], parts: [step, tool, shown] },
    { why: 'everything goes', drop: [step, before, tool, after], parts: [shown] },
    { why: 'nothing goes', drop: [], parts: [step, before, tool, shown, after] },
  ])('keeps every other part in its place when $why', ({ drop, parts }) => {
    const message = answer(step, before, tool, shown, after);
    const kept = message.blocks.filter((block) => !drop.some((part) => part === block.raw));

    expect(partsOf(aiSdkUi.withBlocks(message, kept).raw)).toEqual(parts);
  });

  it('puts new text where its block stands', () => {
    const message = answer(before, shown, after);
    const [first, last] = message.blocks;
    const changed = aiSdkUi.withBlocks(message, [first!, aiSdkUi.textBlock('new'), last!]);

    expect(partsOf(changed.raw)).toEqual([before, shown, { type: 'text', text: 'new' }, after]);
  });

  it('puts a changed part where the old one stood', () => {
    const message = answer(step, before, shown, after);
    const blocks = message.blocks.map((block) => (block.raw === before ? aiSdkUi.textBlock('new') : block));

    expect(partsOf(aiSdkUi.withBlocks(message, blocks).raw)).toEqual([
      step,
      { type: 'text', text: 'new' },
      shown,
      after,
    ]);
  });

  it('makes call and failed result one part', () => {
    const message = answer(toolPart('approval-requested', { approval: { id: 'x' } }), shown);
    const failed = aiSdkUi.failedResult(callOf(message.blocks), 'never ran');
    const changed = aiSdkUi.withBlocks(message, [...message.blocks, failed]);

    expect(partsOf(changed.raw)).toEqual([toolPart('output-error', { errorText: 'never ran' }), shown]);
    expect(changed.blocks).toHaveLength(2);
  });

  it('writes one part of two that share a call', () => {
    const message = answer(toolPart('input-available'), tool);
    const [first, , result] = message.blocks;

    expect(partsOf(aiSdkUi.withBlocks(message, [first!, result!]).raw)).toEqual([tool]);
  });

  /** The ids of a list with messages that were made in front of it. */
  function idsWith(texts: readonly string[], list: readonly unknown[]) {
    const conversation = aiSdkUi.read({ id: 'chat', messages: list });
    const made = texts.flatMap((text) => aiSdkUi.userMessages([aiSdkUi.textBlock(text)]));
    const { messages } = writeConversation({
      ...conversation,
      messages: [...made, ...conversation.messages],
    }) as { messages: readonly { id?: string }[] };
    return messages.map(({ id }) => id);
  }

  it('gives new messages ids that no other message has, and leaves those that came alone', () => {
    const bare = { role: 'user', parts: [before] };
    const [first] = idsWith(['new'], [{ id: 'm1', ...bare }]);
    const ids = idsWith(['new', 'new', 'other'], [{ id: 'm1', ...bare }, { id: first, ...bare }, bare]);

    expect(ids.slice(3)).toEqual(['m1', first, undefined]);
    expect(ids.slice(0, 3).every((id) => /^roundfold-[0-9a-f]{16}(-\d)?$/.test(id ?? ''))).toBe(true);
    expect(new Set(ids).size).toBe(6);
  });

  it('gives the same message the same id every time, and another one in another chat', () => {
    const [id] = idsWith(['new'], [{ id: 'm1', role: 'user', parts: [before] }]);
    const later = [
      { id: 'm1', role: 'user', parts: [before] },
      { id: 'm2', role: 'user', parts: [before] },
    ];

    expect(idsWith(['new'], later)[0]).toBe(id);
    expect(idsWith(['new'], later.slice(1))[0]).not.toBe(id);
    expect(idsWith(['other'], later)[0]).not.toBe(id);
  });
});

describe('recognition of UI messages', () => {
  it.each([
    { why: 'typed parts', list: [{ role: 'user', parts: [{ type: 'text' }] }], verdict: 'certain' },
    { why: 'no parts at all', list: [{ role: 'user', parts: [] }], verdict: 'possible' },
    { why: 'parts of Gemini', list: [{ role: 'user', parts: [{ text: 'hi' }] }], verdict: 'no' },
    { why: 'a model of Gemini', list: [{ role: 'model', parts: [] }], verdict: 'no' },
    { why: 'content', list: [{ role: 'user', content: 'hi' }], verdict: 'no' },
    { why: 'an empty list', list: [], verdict: 'no' },
  ])('$verdict for $why', ({ list, verdict }) => {
    expect(aiSdkUi.recognise(list)).toBe(verdict);
    expect(aiSdkUi.recognise({ messages: list })).toBe(verdict);
  });
});

describe('UI message properties', () => {
  const state = fc.constantFrom(
    'input-available',
    'output-available',
    'output-error',
    'output-denied',
    'odd',
  );
  const part = fc.oneof(
    fc.record({ type: fc.constantFrom('text', 'reasoning', 'data-x', 'step-start'), text: fc.string() }),
    fc.record({ type: fc.constant('tool-t'), toolCallId: fc.constantFrom('a', 'b', 'c'), state }),
    fc.anything(),
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system', 'odd'),
    parts: fc.oneof({ arbitrary: fc.array(part), weight: 9 }, fc.anything()),
  });

  test.prop([fc.array(fc.oneof(message, fc.anything()))], { examples: [[[Number.NaN]]] })(
    'reads anything and writes the very value',
    (list) => {
      expect(writeConversation(aiSdkUi.read(list))).toBe(list);
      expect(['no', 'possible', 'certain']).toContain(aiSdkUi.recognise(list));
    },
  );

  const distinct = fc.uniqueArray(fc.nat(9), { maxLength: 8 }).map((numbers) =>
    numbers.map((number) => {
      if (number % 3 === 0) return { type: 'data-x', data: number };
      if (number % 3 === 1) return { type: 'text', text: `t${number}` };
      return { type: 'tool-t', toolCallId: `c${number}`, state: 'output-available', output: number };
    }),
  );

  test.prop([distinct, fc.func(fc.boolean())])(
    'drops what it is told to and nothing else',
    (parts, isKept) => {
      const message = answer({ type: 'text', text: 'first' }, ...parts);
      const kept = message.blocks.filter(({ raw }) => isKept(raw));
      const expected = partsOf(message.raw).filter(
        (raw) => isKept(raw) || (raw as { type: string }).type === 'data-x',
      );

      expect(partsOf(aiSdkUi.withBlocks(message, kept).raw)).toEqual(expected);
    },
  );
});
