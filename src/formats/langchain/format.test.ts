import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { writeConversation } from '../../conversation/format.ts';
import type { Block, Message } from '../../conversation/message.ts';
import { langchain } from './format.ts';

const mark = Symbol('message');

/** What roundfold sees of a live LangChain message: a class with a mark, `lc_` fields, and methods on its prototype. */
class LiveMessage {
  readonly [mark] = true;
  readonly lc_serializable = true;
  readonly lc_kwargs: object;
  readonly #type: string;

  constructor(type: string, fields: object) {
    this.#type = type;
    this.lc_kwargs = fields;
    Object.assign(this, fields);
  }

  _getType(): string {
    return this.#type;
  }
}

function ai(fields: object) {
  return langchain.readMessage({ type: 'ai', content: '', ...fields });
}

function types(message: Message): readonly string[] {
  return message.blocks.map(({ type }) => type);
}

const call = { type: 'tool_call', id: 'c1', name: 'probe', args: { n: 1 } };
const openaiCall = { id: 'c1', type: 'function', function: { name: 'probe', arguments: '{"n":1}' } };

describe('forms of LangChain messages', () => {
  const fields = { id: 'm', content: 'hi', name: undefined, tool_calls: [call] };
  const forms = {
    live: new LiveMessage('ai', fields),
    plain: { type: 'ai', ...fields },
    role: { role: 'assistant', ...fields },
    stored: { type: 'ai', data: fields },
    constructor: {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'AIMessage'],
      kwargs: fields,
    },
    chunk: {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'AIMessageChunk'],
      kwargs: fields,
    },
  };

  it.each(Object.entries(forms))('reads the %s form', (_, raw) => {
    expect(langchain.readMessage(raw)).toMatchObject({
      role: 'assistant',
      blocks: [
        { type: 'text', text: 'hi' },
        { type: 'tool-call', id: 'c1', name: 'probe', input: { n: 1 } },
      ],
      raw,
    });
  });

  it.each([
    { type: 'human', role: 'user' },
    { type: 'user', role: 'user' },
    { type: 'HumanMessageChunk', role: 'user' },
    { type: 'system', role: 'system' },
    { type: 'developer', role: 'system' },
    { type: 'function', role: 'user' },
    { type: 'odd', role: 'user' },
  ])('takes $type for the $role', ({ type, role }) => {
    expect(langchain.readMessage({ type, content: 'hi' }).role).toBe(role);
  });

  it('takes a generic message for what its role says', () => {
    expect(langchain.readMessage({ type: 'generic', role: 'assistant', content: '' }).role).toBe('assistant');
    expect(langchain.readMessage(new LiveMessage('generic', { role: 'critic', content: '' })).role).toBe(
      'user',
    );
  });

  it('survives a live message whose type cannot be asked', () => {
    const raw = {
      content: 'hi',
      getType: () => {
        throw new Error('no type');
      },
    };

    expect(langchain.readMessage(raw)).toMatchObject({ role: 'user', blocks: [{ type: 'other' }] });
  });

  it('takes blocks out of a live message by making it plain, without the marks of its class', () => {
    const { raw } = langchain.withBlocks(langchain.readMessage(forms.live), []);

    expect(raw).toEqual({ type: 'ai', id: 'm', content: [], tool_calls: [] });
    expect(Object.getOwnPropertySymbols(raw)).toEqual([]);
  });

  it.each([
    {
      form: 'stored',
      list: [forms.stored],
      made: {
        type: 'human',
        data: { additional_kwargs: {}, response_metadata: {}, content: [{ type: 'text', text: 'new' }] },
      },
    },
    {
      form: 'constructor',
      list: [forms.constructor],
      made: {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'HumanMessage'],
        kwargs: { additional_kwargs: {}, response_metadata: {}, content: [{ type: 'text', text: 'new' }] },
      },
    },
    {
      form: 'plain',
      list: [forms.plain],
      made: { type: 'human', content: [{ type: 'text', text: 'new' }] },
    },
    { form: 'live', list: [forms.live], made: { type: 'human', content: [{ type: 'text', text: 'new' }] } },
    { form: 'empty', list: [], made: { type: 'human', content: [{ type: 'text', text: 'new' }] } },
  ])('writes a new message into a $form list in its form', ({ list, made }) => {
    const conversation = langchain.read({ messages: list, next: 'agent' });
    const [message] = langchain.userMessages([langchain.textBlock('new')]);
    const messages = [...conversation.messages, message!];
    const written = writeConversation({ ...conversation, messages });

    expect(written).toEqual({ messages: [...list, made], next: 'agent' });
  });

  it('writes a failed result in the form of the message it replaces', () => {
    const old = langchain.readMessage({ type: 'tool', data: { tool_call_id: 'c1', content: 'long' } });
    const failed = langchain.failedResult(langchain.readMessage(forms.plain).blocks[1] as never, 'lost');

    expect(langchain.withBlocks(old, [failed]).raw).toEqual({
      type: 'tool',
      data: {
        additional_kwargs: {},
        response_metadata: {},
        tool_call_id: 'c1',
        name: 'probe',
        content: 'lost',
        status: 'error',
      },
    });
  });

  it('empties what is one block as a whole', () => {
    const whole = [{ type: 'tool', tool_call_id: 'c1', content: 'x' }, { type: 'remove', id: 'm' }, 7];

    for (const raw of whole) {
      expect(langchain.withBlocks(langchain.readMessage(raw), [])).toMatchObject({ blocks: [], raw });
    }
  });
});

describe('calls in several places', () => {
  it.each([
    { why: 'tool_calls alone', fields: { tool_calls: [call] } },
    {
      why: 'raw and parsed',
      fields: { tool_calls: [call], additional_kwargs: { tool_calls: [openaiCall] } },
    },
    { why: 'raw alone', fields: { additional_kwargs: { tool_calls: [openaiCall] } } },
    {
      why: 'raw, and listed as invalid',
      fields: {
        tool_calls: [],
        invalid_tool_calls: [{ id: 'c1', name: 'probe', args: '{' }],
        additional_kwargs: { tool_calls: [openaiCall] },
      },
    },
    { why: 'a standard block', fields: { content: [call], tool_calls: [{ ...call }] } },
    {
      why: 'a block of Anthropic',
      fields: { content: [{ type: 'tool_use', id: 'c1', name: 'probe', input: {} }], tool_calls: [call] },
    },
    {
      why: 'an item of OpenAI',
      fields: {
        content: [{ type: 'function_call', call_id: 'c1', name: 'probe', arguments: '{}' }],
        tool_calls: [call],
      },
    },
    {
      why: 'a part of Gemini, which has no id',
      fields: {
        content: [{ type: 'functionCall', functionCall: { name: 'probe', args: {} } }],
        tool_calls: [call],
      },
    },
  ])('counts once: $why', ({ fields }) => {
    const message = ai(fields);

    expect(types(message)).toEqual(['tool-call']);
    expect(message.blocks[0]).toMatchObject({ name: 'probe', runBy: 'client' });
    const emptied = langchain.withBlocks(message, []);
    expect(emptied.blocks).toEqual([]);
    expect(JSON.stringify(emptied.raw)).not.toContain('probe');
  });

  it('keeps two calls of one name apart', () => {
    const part = { type: 'functionCall', functionCall: { name: 'probe' } };
    const message = ai({ content: [part, { ...part }], tool_calls: [call, { ...call, id: 'c2' }] });

    expect(types(message)).toEqual(['tool-call', 'tool-call']);
  });

  it('counts a call twice that is listed twice, although it is in the content once', () => {
    const block = { type: 'tool_use', id: 'c1', name: 'probe', input: {} };

    expect(types(ai({ content: [block], tool_calls: [call, { ...call }] }))).toHaveLength(2);
  });

  it('reads an invalid call that is sent nowhere as no call', () => {
    const message = ai({ tool_calls: [call], invalid_tool_calls: [{ id: 'c9', name: 'draw', args: '{' }] });

    expect(types(message)).toEqual(['tool-call', 'other']);
  });

  it('reads the call of 2023 where there is no other', () => {
    const legacy = { function_call: { name: 'probe', arguments: '{}' }, other: 1 };
    const message = ai({ additional_kwargs: legacy });

    expect(message.blocks).toMatchObject([{ type: 'tool-call', id: undefined, name: 'probe', input: '{}' }]);
    expect(langchain.withBlocks(message, []).raw).toMatchObject({ additional_kwargs: { other: 1 } });
    expect(types(ai({ additional_kwargs: legacy, tool_calls: [call] }))).toEqual(['tool-call']);
    const answer = langchain.failedResult(message.blocks[0] as never, 'lost');
    expect(answer).toMatchObject({ callId: undefined, name: 'probe', raw: { type: 'function' } });
  });

  it('keeps fields as they are when their blocks are kept', () => {
    const message = ai({ content: [{ type: 'text', text: 'a' }, call], tool_calls: [call], id: 'm' });
    const raw = langchain.withBlocks(message, message.blocks).raw as {
      tool_calls: unknown;
      content: unknown;
    };
    const before = message.raw as typeof raw;

    expect(raw).toEqual(before);
    expect(raw.tool_calls).toBe(before.tool_calls);
    expect(raw.content).toBe(before.content);
  });
});

describe('content of LangChain messages', () => {
  it.each([
    { block: 'hi', view: { type: 'text', text: 'hi' } },
    { block: { type: 'text', text: 'hi' }, view: { type: 'text', text: 'hi' } },
    {
      block: { type: 'reasoning', reasoning: 'so' },
      view: { type: 'reasoning', text: 'so', sealed: undefined },
    },
    {
      block: { type: 'reasoning', reasoning: '', signature: 'S' },
      view: { type: 'reasoning', text: '', sealed: 'S' },
    },
    {
      block: { type: 'reasoning', summary: [{ text: 'so' }], encrypted_content: 'E' },
      view: { type: 'reasoning', text: 'so', sealed: 'E' },
    },
    { block: { type: 'thinking', thinking: 'so' }, view: { type: 'reasoning', text: 'so' } },
    {
      block: { type: 'server_tool_call', id: 's', name: 'web' },
      view: { type: 'tool-call', runBy: 'server' },
    },
    {
      block: { type: 'server_tool_call_result', toolCallId: 's', status: 'error', output: {} },
      view: { type: 'tool-result', callId: 's', isError: true, runBy: 'server' },
    },
    { block: { type: 'image', data: 'AAAA', mimeType: 'image/png' }, view: { media: 'image', data: 'AAAA' } },
    { block: { type: 'image', url: 'https://a.example' }, view: { media: 'image', data: undefined } },
    { block: { type: 'image', data: new Uint8Array([0, 0, 0]) }, view: { media: 'image', data: 'AAAA' } },
    {
      block: { type: 'image', source: { type: 'base64', data: 'AAAA' } },
      view: { media: 'image', data: 'AAAA' },
    },
    { block: { type: 'image_url', image_url: 'data:image/png;base64,AAAA' }, view: { data: 'AAAA' } },
    { block: { type: 'audio', data: 'AAAA' }, view: { media: 'audio' } },
    { block: { type: 'video', fileId: 'f' }, view: { media: 'video' } },
    { block: { type: 'file', data: 'AAAA', mime_type: 'audio/wav' }, view: { media: 'audio', data: 'AAAA' } },
    { block: { type: 'file', file: { file_data: 'AAAA' } }, view: { media: 'document', data: 'AAAA' } },
    { block: { type: 'text-plain', text: 'hi' }, view: { media: 'document', text: 'hi' } },
    { block: { type: 'hologram' }, view: { type: 'other', wireType: 'hologram' } },
    { block: null, view: { type: 'other', wireType: undefined } },
  ])('reads $block', ({ block, view }) => {
    expect(ai({ content: [block] }).blocks).toMatchObject([{ ...view, raw: block }]);
  });

  it('reads the reasoning item beside the content, and takes it out', () => {
    const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'E' };
    const message = ai({ content: 'hi', additional_kwargs: { reasoning, other: 1 } });

    expect(message.blocks).toMatchObject([{ type: 'reasoning', sealed: 'E' }, { type: 'text' }]);
    expect(langchain.withBlocks(message, message.blocks.slice(1)).raw).toEqual({
      type: 'ai',
      content: 'hi',
      additional_kwargs: { other: 1 },
    });
  });

  it('takes the reasoning item out with the block that repeats it', () => {
    const reasoning = { id: 'rs_1', summary: [], encrypted_content: 'E' };
    const block = { type: 'reasoning', reasoning: 'so' };
    const message = ai({ content: [block, 'hi'], additional_kwargs: { reasoning } });

    expect(types(message)).toEqual(['reasoning', 'text']);
    expect(langchain.withBlocks(message, message.blocks.slice(0, 1)).raw).toMatchObject({
      additional_kwargs: { reasoning },
    });
    expect(langchain.withBlocks(message, message.blocks.slice(1)).raw).toMatchObject({
      additional_kwargs: {},
    });
    expect(types(langchain.withBlocks(message, message.blocks.slice(1)))).toEqual(['text']);
  });

  it('takes the provider’s id for the id of the response, and its own where there is none', () => {
    expect(ai({ id: 'run-1', response_metadata: { id: 'msg_1' } }).responseId).toBe('msg_1');
    expect(ai({ id: 'run-1', response_metadata: {} }).responseId).toBe('run-1');
    expect(langchain.readMessage({ type: 'human', id: 'run-1' }).responseId).toBeUndefined();
    expect(
      langchain.readMessage({ type: 'human', response_metadata: { id: 'x' } }).responseId,
    ).toBeUndefined();
  });
});

describe('recognition of LangChain messages', () => {
  it.each([
    { why: 'a live message', list: [new LiveMessage('human', { content: 'hi' })], verdict: 'certain' },
    {
      why: 'a plain one among roles',
      list: [{ role: 'user' }, { type: 'ai', content: '' }],
      verdict: 'certain',
    },
    { why: 'roles alone', list: [{ role: 'user', content: 'hi' }], verdict: 'no' },
    { why: 'an item of Responses', list: [{ type: 'message', role: 'user' }], verdict: 'no' },
    {
      why: 'an unknown class',
      list: [{ lc: 1, type: 'constructor', id: ['Prompt'], kwargs: {} }],
      verdict: 'no',
    },
    { why: 'nothing', list: [], verdict: 'no' },
  ])('$verdict for $why', ({ list, verdict }) => {
    expect(langchain.recognise(list)).toBe(verdict);
    expect(langchain.recognise({ messages: list })).toBe(verdict);
  });
});

describe('LangChain properties', () => {
  const odd = fc.anything({ withBigInt: true });
  const fields = fc.record(
    {
      content: fc.oneof(
        fc.string(),
        fc.array(fc.oneof(fc.record({ type: fc.string(), text: odd }), odd)),
        odd,
      ),
      tool_calls: fc.oneof(fc.array(fc.record({ id: fc.constantFrom('a', 'b'), name: fc.string() })), odd),
      invalid_tool_calls: odd,
      additional_kwargs: fc.oneof(fc.record({ tool_calls: odd, reasoning: odd, function_call: odd }), odd),
      response_metadata: odd,
      usage_metadata: odd,
    },
    { requiredKeys: [] },
  );
  const type = fc.constantFrom('human', 'ai', 'system', 'tool', 'function', 'generic', 'remove', 'odd');
  const message = fc.oneof(
    fc.record({ type, data: fields }),
    fc.tuple(type, fields).map(([name, inner]) => ({ ...inner, type: name })),
    fc.record({ lc: fc.constant(1), type: fc.constant('constructor'), id: odd, kwargs: fields }),
  );

  test.prop([fc.array(fc.oneof(message, odd))])('reads anything and writes the very value', (list) => {
    expect(writeConversation(langchain.read(list))).toBe(list);
    expect(['no', 'certain']).toContain(langchain.recognise(list));
  });

  const calls = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });

  test.prop([calls, fc.boolean(), fc.boolean(), fc.func(fc.boolean())])(
    'keeps the calls it is told to, in every place, and no other',
    (ids, isInContent, isRaw, isKept) => {
      const message = ai({
        content: isInContent ? ids.map((id) => ({ type: 'tool_use', id, name: 't', input: {} })) : 'text',
        tool_calls: ids.map((id) => ({ ...call, id })),
        additional_kwargs: isRaw ? { tool_calls: ids.map((id) => ({ ...openaiCall, id })) } : {},
      });
      const kept = message.blocks.filter((block: Block) => block.type !== 'tool-call' || isKept(block.id));
      const written = langchain.withBlocks(message, kept);
      const copies = 1 + Number(isInContent) + Number(isRaw);

      expect(written.blocks).toEqual(kept);
      for (const id of ids) {
        const found = JSON.stringify(written.raw).match(new RegExp(`"id":"${id}"`, 'g')) ?? [];
        expect(found).toHaveLength(isKept(id) ? copies : 0);
      }
    },
  );
});
