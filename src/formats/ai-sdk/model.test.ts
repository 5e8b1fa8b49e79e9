import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { writeConversation } from '../../conversation/format.ts';
import { textOf } from '../../conversation/message.ts';
import { aiSdkModel } from './model.ts';

function assistant(...content: readonly unknown[]) {
  return { role: 'assistant', content };
}

function blocksOf(message: unknown) {
  return aiSdkModel.readMessage(message).blocks;
}

function withOutput(output: unknown) {
  const [block] = blocksOf({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'a', toolName: 't', output }],
  });
  return block!;
}

const png = 'iVBORw0KGgo=';
const pngBytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0));

describe('model messages', () => {
  it.each([
    { output: { type: 'text', value: 'done' }, text: 'done', isError: false },
    { output: { type: 'json', value: { rows: [1, 2] } }, text: '{"rows":[1,2]}', isError: false },
    { output: { type: 'json', value: null }, text: 'null', isError: false },
    { output: { type: 'error-text', value: 'no such file' }, text: 'no such file', isError: true },
    { output: { type: 'error-json', value: { code: 2 } }, text: '{"code":2}', isError: true },
    { output: { type: 'execution-denied', reason: 'not today' }, text: 'not today', isError: true },
    { output: { type: 'execution-denied' }, text: 'Tool call execution denied.', isError: true },
    {
      output: { type: 'content', value: [{ type: 'text', text: 'see' }, { type: 'hologram' }] },
      text: 'see\n',
      isError: false,
    },
    { output: { type: 'hologram', value: 1 }, text: '', isError: false },
    { output: undefined, text: '', isError: false },
  ])('reads the output $output as “$text”', ({ output, text, isError }) => {
    const result = withOutput(output);

    expect(textOf(result)).toBe(text);
    expect(result).toMatchObject({ type: 'tool-result', callId: 'a', name: 't', isError, runBy: 'client' });
  });

  it('reads an output that has no JSON', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;

    expect(withOutput({ type: 'json', value: cycle })).toMatchObject({ content: [{ type: 'other' }] });
    expect(withOutput({ type: 'json', value: 10n })).toMatchObject({ content: [{ type: 'other' }] });
  });

  it.each([
    { part: { type: 'image', image: png }, media: 'image', data: png },
    { part: { type: 'image', image: pngBytes }, media: 'image', data: png },
    { part: { type: 'image', image: pngBytes.buffer }, media: 'image', data: png },
    { part: { type: 'image', image: `data:image/png;base64,${png}` }, media: 'image', data: png },
    { part: { type: 'image', image: new URL(`data:image/png;base64,${png}`) }, media: 'image', data: png },
    { part: { type: 'image', image: 'https://a.example/b.png' }, media: 'image', data: undefined },
    { part: { type: 'image', image: new URL('https://a.example/b') }, media: 'image', data: undefined },
    { part: { type: 'image', image: { openai: 'file-1' } }, media: 'image', data: undefined },
    { part: { type: 'file', data: png, mediaType: 'audio/wav' }, media: 'audio', data: png },
    { part: { type: 'file', data: png, mediaType: 'video' }, media: 'video', data: png },
    { part: { type: 'file', data: { type: 'data', data: png } }, media: 'document', data: png },
    { part: { type: 'file', data: { type: 'url', url: 'https://a.example' } }, media: 'document' },
  ])('reads media of $part.type as $media, case $#', ({ part, media, data }) => {
    expect(blocksOf({ role: 'user', content: [part] })).toEqual([
      { type: 'media', media, data, text: undefined, detail: undefined, raw: part },
    ]);
  });

  it('reads a file of more bytes than one call can take', () => {
    const image = new Uint8Array(300_000).fill(7);
    const [block] = blocksOf({ role: 'user', content: [{ type: 'image', image }] });

    expect(block).toMatchObject({ data: btoa('\x07'.repeat(300_000)) });
  });

  it('reads the text of a text file', () => {
    const part = { type: 'file', mediaType: 'text/csv', data: { type: 'text', text: 'a;b' } };

    expect(blocksOf({ role: 'user', content: [part] })).toMatchObject([{ media: 'document', text: 'a;b' }]);
  });

  it.each([
    { why: 'a signature beside readable text', text: 'so', options: { signature: 'S' }, sealed: undefined },
    { why: 'a signature alone', text: '', options: { signature: 'S' }, sealed: 'S' },
    { why: 'redacted thinking', text: '', options: { redactedData: 'R' }, sealed: 'R' },
    { why: 'encrypted', text: 'sum', options: { reasoningEncryptedContent: 'E' }, sealed: 'E' },
    { why: 'no options', text: 'so', options: undefined, sealed: undefined },
  ])('reads reasoning with $why', ({ text, options, sealed }) => {
    const part = { type: 'reasoning', text, providerOptions: { some: options } };

    expect(blocksOf(assistant(part))).toEqual([{ type: 'reasoning', text, sealed, raw: part }]);
  });

  it('counts encrypted content once that every summary of an item repeats', () => {
    const part = (text: string) => ({
      type: 'reasoning',
      text,
      providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'E' } },
    });

    expect(blocksOf(assistant(part('one'), part('two')))).toMatchObject([
      { sealed: 'E', text: 'one' },
      { sealed: undefined, text: 'two' },
    ]);
  });

  it.each([
    { type: 'text', text: 'sum', providerOptions: { anthropic: { type: 'compaction' } } },
    { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { itemId: 'cmp_1' } } },
  ])('takes the provider’s own summary for a border: $type', (part) => {
    expect(blocksOf(assistant(part))).toMatchObject([{ type: 'compaction', raw: part }]);
  });

  it('tells the tools of the provider from those of the client', () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 't', input: {} };
    const result = {
      type: 'tool-result',
      toolCallId: 'a',
      toolName: 't',
      output: { type: 'text', value: '' },
    };

    expect(blocksOf(assistant(call))).toMatchObject([{ runBy: 'client' }]);
    expect(blocksOf(assistant({ ...call, providerExecuted: true }, result))).toMatchObject([
      { runBy: 'server' },
      { runBy: 'server' },
    ]);
  });

  it.each([
    { system: 'be brief', texts: ['be brief'] },
    { system: { role: 'system', content: 'be brief' }, texts: ['be brief'] },
    {
      system: [
        { role: 'system', content: 'a' },
        { role: 'system', content: 'b' },
      ],
      texts: ['a', 'b'],
    },
    { system: undefined, texts: [] },
    { system: 7, texts: [] },
  ])('reads instructions, case $#', ({ system, texts }) => {
    const frames = [{ instructions: system }, { system }].map(
      (body) => aiSdkModel.read({ ...body, messages: [] }).frame,
    );

    for (const frame of frames) expect(frame.system.map(textOf)).toEqual(texts);
  });

  it('reads what of a live tool is data', () => {
    const schema = { type: 'object' };
    const tools = {
      plain: { description: 'reads', inputSchema: schema, execute: () => 'x' },
      wrapped: { inputSchema: { jsonSchema: schema, validate: () => true } },
      validator: { inputSchema: { '~standard': { version: 1 }, type: 'object' } },
      odd: null,
    };
    const { frame } = aiSdkModel.read({ messages: [], tools, model: { modelId: 'gpt-6' } });

    expect(frame.model).toBe('gpt-6');
    expect(frame.tools).toEqual([
      { name: 'plain', raw: { name: 'plain', description: 'reads', inputSchema: schema } },
      { name: 'wrapped', raw: { name: 'wrapped', description: undefined, inputSchema: schema } },
      { name: 'validator', raw: { name: 'validator', description: undefined, inputSchema: undefined } },
      { name: 'odd', raw: { name: 'odd' } },
    ]);
  });

  it.each([
    { why: 'the tool it approves has not run', extra: [], continues: 'tool-approval-response' },
    { why: 'the tool it approves has run', extra: ['a'], continues: undefined },
    { why: 'another tool has run', extra: ['b'], continues: 'tool-approval-response' },
  ])('says with an approval at the end that $why', ({ extra, continues }) => {
    const results = extra.map((toolCallId) => ({ type: 'tool-result', toolCallId }));
    const { frame } = aiSdkModel.read([
      assistant(
        { type: 'tool-call', toolCallId: 'a' },
        { type: 'tool-approval-request', approvalId: 'x', toolCallId: 'a' },
      ),
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'x' }, ...results] },
    ]);

    expect(frame.continues).toBe(continues);
  });
});

describe('new model messages', () => {
  const call = {
    type: 'tool-call',
    id: 'a',
    name: 't',
    input: {},
    runBy: 'client',
    raw: undefined,
  } as const;

  it('puts results into a tool message and the rest into a user message', () => {
    const blocks = [aiSdkModel.textBlock('go on'), aiSdkModel.failedResult(call, 'lost')];

    expect(aiSdkModel.userMessages(blocks).map(({ raw }) => raw)).toEqual([
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 't',
            output: { type: 'error-text', value: 'lost' },
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'go on' }] },
    ]);
  });

  it('keeps the content of a system message a string', () => {
    const message = aiSdkModel.readMessage({ role: 'system', content: 'be brief', providerOptions: {} });
    const changed = aiSdkModel.withBlocks(message, [...message.blocks, aiSdkModel.textBlock('be kind')]);

    expect(changed.raw).toEqual({ role: 'system', content: 'be brief\nbe kind', providerOptions: {} });
  });
});

describe('recognition of model messages', () => {
  it.each([
    { why: 'plain text', list: [{ role: 'user', content: 'hi' }], verdict: 'possible' },
    { why: 'a tool call', list: [assistant({ type: 'tool-call', toolCallId: 'a' })], verdict: 'certain' },
    {
      why: 'provider options',
      list: [{ role: 'user', content: 'hi', providerOptions: {} }],
      verdict: 'certain',
    },
    { why: 'a chat result', list: [{ role: 'tool', tool_call_id: 'a', content: 'x' }], verdict: 'no' },
    { why: 'a result that is a text', list: [{ role: 'tool', content: 'x' }], verdict: 'no' },
    { why: 'chat calls', list: [{ role: 'assistant', content: 'x', tool_calls: [] }], verdict: 'no' },
    { why: 'a block of Anthropic', list: [assistant({ type: 'tool_use', id: 'a' })], verdict: 'no' },
    { why: 'an image of Anthropic', list: [assistant({ type: 'image', source: {} })], verdict: 'no' },
    { why: 'a file of OpenAI', list: [assistant({ type: 'file', file: {} })], verdict: 'no' },
    { why: 'UI messages', list: [{ role: 'user', parts: [] }], verdict: 'no' },
    { why: 'a stranger', list: [null], verdict: 'no' },
  ])('$verdict for $why', ({ list, verdict }) => {
    expect(aiSdkModel.recognise(list)).toBe(verdict);
    expect(aiSdkModel.recognise({ messages: list })).toBe(verdict);
  });

  it('is certain of tools by name', () => {
    expect(aiSdkModel.recognise({ messages: [{ role: 'user', content: 'hi' }], tools: {} })).toBe('certain');
  });
});

describe('model message properties', () => {
  const part = fc.record(
    {
      type: fc.constantFrom(
        'text',
        'reasoning',
        'image',
        'file',
        'tool-call',
        'tool-result',
        'custom',
        'x-y',
      ),
      text: fc.anything(),
      data: fc.anything(),
      output: fc.anything({ withBigInt: true }),
      providerOptions: fc.anything(),
      toolCallId: fc.anything(),
    },
    { requiredKeys: [] },
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'odd'),
    content: fc.oneof(fc.string(), fc.array(fc.oneof(part, fc.anything())), fc.anything()),
  });

  test.prop([fc.array(fc.oneof(message, fc.anything()))])(
    'reads anything and writes the very value',
    (list) => {
      expect(writeConversation(aiSdkModel.read(list))).toBe(list);
      expect(['no', 'possible', 'certain']).toContain(aiSdkModel.recognise(list));
    },
  );

  test.prop([fc.array(message, { minLength: 1 })])(
    'changes no message but the one that is changed',
    (list) => {
      const conversation = aiSdkModel.read(list);
      const [first, ...rest] = conversation.messages;
      const changed = aiSdkModel.withBlocks(first!, []);
      const written = writeConversation({ ...conversation, messages: [changed, ...rest] }) as unknown[];

      expect(written.slice(1).every((raw, index) => raw === list[index + 1])).toBe(true);
      expect(written[0]).not.toBe(list[0]);
    },
  );
});
