import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { applyDamages, damages, steps } from '../../../test/support/conversations.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { findContract } from '../../contracts/registry.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { type Block, callArguments, textOf } from '../../conversation/message.ts';
import { linkTools } from '../../conversation/tool-links.ts';
import { findFormat, readConversation } from '../registry.ts';
import { conversionTargets, convertConversation } from './convert.ts';

const errorsOf = (conversation: Conversation, scope: 'messages' | 'request' = 'messages') =>
  findContract(conversation.format.name)!
    .check(writeConversation(conversation), { scope })
    .filter(({ severity }) => severity === 'error');

/** All that a conversation says, in order, whatever it is written in. */
const contentOf = ({ messages }: Conversation): readonly string[] =>
  messages.flatMap(({ role, blocks }) => blocks.flatMap((block) => sayingOf(block, role)));

function sayingOf(block: Block, role: string): readonly string[] {
  switch (block.type) {
    case 'text':
      return [`${role}: ${block.text}`];
    case 'tool-call':
      return [`${block.name}(${JSON.stringify(callArguments(block))})`];
    case 'tool-result':
      return [`=> ${textOf(block)}`];
    default:
      return [];
  }
}

/** Which result text answers which arguments: what a wrong id would break although the order is right. */
const answersOf = ({ messages }: Conversation): readonly string[] =>
  linkTools(messages).pairs.map(({ call, result }) => {
    const asked = messages[call.message]!.blocks[call.block]!;
    const answer = messages[result.message]!.blocks[result.block]!;
    return `${sayingOf(asked, '').join()}${sayingOf(answer, '').join()}`;
  });

const runs = { numRuns: Number(process.env['ROUNDFOLD_RUNS'] ?? 200) };
const ways = Object.entries(writers).flatMap(([from, write]) =>
  conversionTargets.filter((to) => to !== from).map((to) => ({ from, to, write })),
);

describe.each(ways)('from $from to $to', ({ from, to, write }) => {
  const read = (value: unknown) => findFormat(from)!.read(deepFreeze(value));

  test.prop([steps], runs)('a legal conversation is legal and says the same', (list) => {
    const before = read(write(list));
    const { conversation } = convertConversation(before, to);

    expect(conversation.format.name).toBe(to);
    expect(errorsOf(conversation)).toEqual([]);
    expect(contentOf(conversation)).toEqual(contentOf(before));
    expect(answersOf(conversation)).toEqual(answersOf(before));
    expect(linkTools(conversation.messages)).toMatchObject({ unanswered: [], orphans: [] });
  });

  test.prop([steps, damages], runs)(
    'a broken one is legal too, and no text of a result is lost',
    (list, broken) => {
      const damaged = applyDamages(write(list), broken);
      fc.pre(damaged.length > 0);
      const { conversation } = convertConversation(read(damaged), to);

      expect(errorsOf(conversation)).toEqual([]);
      const said = JSON.stringify(contentOf(conversation));
      for (const saying of contentOf(read(damaged))) {
        if (saying.startsWith('=> ')) expect(said).toContain(JSON.stringify(saying.slice(3)).slice(1, -1));
      }
    },
  );
});

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const bodies: readonly { from: string; body: object }[] = [
  {
    from: 'anthropic-messages',
    body: {
      model: 'model-1',
      max_tokens: 900,
      system: 'Be brief.',
      tools: [{ name: 'read', description: 'reads', input_schema: schema }],
      messages: [{ role: 'user', content: 'hello' }],
    },
  },
  {
    from: 'openai-chat',
    body: {
      model: 'model-1',
      max_completion_tokens: 900,
      tools: [{ type: 'function', function: { name: 'read', description: 'reads', parameters: schema } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
    },
  },
  {
    from: 'openai-responses',
    body: {
      model: 'model-1',
      max_output_tokens: 900,
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'read', description: 'reads', parameters: schema }],
      input: 'hello',
    },
  },
  {
    from: 'gemini',
    body: {
      model: 'model-1',
      generationConfig: { maxOutputTokens: 900 },
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [
        {
          functionDeclarations: [
            {
              name: 'read',
              description: 'reads',
              parameters: { type: 'OBJECT', properties: { path: { type: 'STRING' } } },
            },
          ],
        },
      ],
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
    },
  },
];

describe('a request body', () => {
  const cases = bodies.flatMap(({ from, body }) => conversionTargets.map((to) => ({ from, to, body })));

  it.each(cases)('from $from to $to keeps instructions, tools, limit and model', ({ from, to, body }) => {
    const { conversation } = convertConversation(readConversation(deepFreeze(body), from), to);
    const written = JSON.stringify(writeConversation(conversation));
    const { system, tools } = conversation.frame;
    const instructions = [...system, ...conversation.messages.flatMap(({ blocks }) => blocks)].map(textOf);

    expect(errorsOf(conversation, 'request')).toEqual([]);
    expect(instructions).toEqual(expect.arrayContaining(['Be brief.', 'hello']));
    expect(tools.map(({ name }) => name)).toEqual(['read']);
    expect(written).toContain('900');
    if (from !== to) expect(written).toContain(JSON.stringify(schema));
    if (to !== 'gemini') expect(conversation.frame.model).toBe('model-1');
  });

  it('is the very same one when it is in that format already', () => {
    const conversation = readConversation(bodies[0]!.body);

    expect(convertConversation(conversation, 'anthropic-messages')).toEqual({ conversation, changes: [] });
    expect(convertConversation(conversation, 'anthropic-messages').conversation).toBe(conversation);
  });

  it('is made around a list whose instructions have no place in it, and says so', () => {
    const list = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
    ];
    const { conversation, changes } = convertConversation(readConversation(list), 'anthropic-messages');

    expect(writeConversation(conversation)).toEqual({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    });
    expect(changes).toEqual([
      { what: 'list of messages', became: 'wrapped in a body that holds the instructions', count: 1 },
    ]);
  });

  it('names the settings that are left out', () => {
    const body = { ...bodies[0]!.body, temperature: 0.5, thinking: { type: 'adaptive' } };
    const { changes } = convertConversation(readConversation(body), 'openai-chat');

    expect(changes.map(({ what }) => what)).toEqual(['setting temperature', 'setting thinking']);
  });
});

/** A call and its result, as Anthropic Messages. */
const exchange = (id: string, name = 'read', content: unknown = 'text') => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
];
const ask = { role: 'user', content: 'go' };
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };

describe('what does not fit', () => {
  const convert = (messages: readonly unknown[], to: string, from = 'anthropic-messages') => {
    const { conversation, changes } = convertConversation(findFormat(from)!.read(deepFreeze(messages)), to);
    expect(errorsOf(conversation)).toEqual([]);
    return { list: writeConversation(conversation), changes, conversation };
  };

  it.each([
    { to: 'openai-chat', limit: 40 },
    { to: 'openai-responses', limit: 64 },
  ])('ids stay apart and within $limit characters in $to', ({ to, limit }) => {
    const ids = ['short', `${'x'.repeat(70)}1`, `${'x'.repeat(70)}2`, 'x'.repeat(38)];
    const { conversation, changes } = convert([ask, ...ids.flatMap((id) => exchange(id))], to);
    const made = conversation.messages.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool-call' ? [block.id ?? ''] : [])),
    );

    expect(new Set(made).size).toBe(4);
    expect(made[0]).toBe('short');
    expect(Math.max(...made.map(({ length }) => length))).toBeLessThanOrEqual(limit);
    expect(changes).toEqual([{ what: 'call id', became: 'made legal', count: 2 }]);
  });

  it('an id that is used again gets another one where ids stand for good', () => {
    const round = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'functions.read:0', type: 'function', function: { name: 'read', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.read:0', content: 'text' },
    ];
    const { list } = convert([ask, ...round, ...round], 'anthropic-messages', 'openai-chat');

    expect(JSON.stringify(list)).toContain('"functions_read_0"');
    expect(JSON.stringify(list)).toContain('"functions_read_0_1"');
  });

  it('tool names are made legal, the same everywhere, and stay apart', () => {
    const { conversation, changes } = convert(
      [ask, ...exchange('a', 'mcp.read'), ...exchange('b', 'mcp:read'), ...exchange('c', 'mcp.read')],
      'openai-chat',
    );
    const names = contentOf(conversation).filter((saying) => saying.endsWith('({})'));

    expect(names).toEqual(['mcp_read({})', 'mcp_read_1({})', 'mcp_read({})']);
    expect(changes).toEqual([{ what: 'tool name', became: 'made legal', count: 3 }]);
  });

  it.each([
    { to: 'openai-chat', kept: `data:image/png;base64,${png}`, moved: true },
    { to: 'openai-responses', kept: `data:image/png;base64,${png}`, moved: false },
    { to: 'gemini', kept: `"data":"${png}"`, moved: true },
  ])('a picture in a result stays in $to', ({ to, kept, moved }) => {
    const { list, changes } = convert([ask, ...exchange('a', 'shot', [image])], to);

    expect(JSON.stringify(list)).toContain(kept);
    expect(JSON.stringify(list).includes('from the result of shot')).toBe(moved);
    expect(changes).toHaveLength(moved ? 1 : 0);
  });

  it.each([
    {
      kind: 'an image of the user',
      from: 'openai-chat',
      part: { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      to: 'anthropic-messages',
      written: { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    },
    {
      kind: 'an image of the user',
      from: 'openai-chat',
      part: { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${png}` } },
      to: 'anthropic-messages',
      written: { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: png } },
    },
    {
      kind: 'a document',
      from: 'openai-chat',
      part: { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' } },
      to: 'anthropic-messages',
      written: {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' },
      },
    },
    {
      kind: 'a recording',
      from: 'openai-chat',
      part: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      to: 'anthropic-messages',
      written: { type: 'text', text: '[audio left out]' },
    },
    {
      kind: 'a recording',
      from: 'openai-chat',
      part: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      to: 'gemini',
      written: { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
    },
  ])('$kind goes from $from to $to as far as it can', ({ from, part, to, written }) => {
    const { list } = convert([{ role: 'user', content: [part] }], to, from);
    const [message] = list as readonly { content?: unknown; parts?: unknown }[];

    expect(message?.content ?? message?.parts).toEqual([written]);
  });

  it('reasoning is left out and counted', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const { list, changes } = convert(
      [ask, { role: 'assistant', content: [thought, { type: 'text', text: 'yes' }] }, ask],
      'openai-responses',
    );

    expect(JSON.stringify(list)).not.toContain('hm');
    expect(changes).toEqual([{ what: 'reasoning block', became: 'left out', count: 1 }]);
  });

  it('free text as arguments is wrapped, and broken JSON with it', () => {
    const items = [
      { role: 'user', content: 'go' },
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
    ];
    const { list, changes } = convert(items, 'anthropic-messages', 'openai-responses');

    expect(JSON.stringify(list)).toContain('"input":{"input":"*** Begin"}');
    expect(changes).toHaveLength(1);
  });

  it('errors are told by the sign the target has, or by a note', () => {
    const failed = [
      ask,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: 'no such file', is_error: true }],
      },
    ];

    expect(JSON.stringify(convert(failed, 'gemini').list)).toContain('{"error":"no such file"}');
    expect(JSON.stringify(convert(failed, 'openai-chat').list)).toContain(
      '[the tool reported an error]\\nno such file',
    );
  });

  it("a provider's own summary hides what stood before it, and the target sees it as text", () => {
    const { list, changes } = convert(
      [
        ask,
        ...exchange('a'),
        { role: 'assistant', content: [{ type: 'compaction', content: 'We read a file.' }] },
        { role: 'user', content: 'and now?' },
      ],
      'openai-chat',
    );

    expect(list).toEqual([
      { role: 'user', content: expect.stringContaining('We read a file.') },
      { role: 'user', content: 'and now?' },
    ]);
    expect(changes).toEqual([
      { what: "message before the provider's own summary", became: 'left out', count: 3 },
    ]);
  });

  it("a provider's own tools become text", () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'kilns' } };
    const found = {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: [{ type: 'web_search_result', url: 'https://example.com/kilns' }],
    };
    const { list } = convert([ask, { role: 'assistant', content: [search, found] }, ask], 'openai-chat');

    expect(JSON.stringify(list)).toContain('the provider ran web_search');
    expect(JSON.stringify(list)).toContain('https://example.com/kilns');
  });

  it('a system message in the middle becomes a marked user message where there is no such role', () => {
    const messages = [ask, { role: 'assistant', content: 'yes' }, { role: 'system', content: 'Stop.' }, ask];
    const { list } = convert(messages, 'anthropic-messages', 'openai-chat');

    expect(JSON.stringify(list)).toContain('[system message]\\nStop.');
  });

  it('blanks at the end of the last answer go where they are refused', () => {
    const { list } = convert(
      [ask, { role: 'assistant', content: 'yes \n' }],
      'anthropic-messages',
      'openai-chat',
    );

    expect(JSON.stringify(list)).toContain('"text":"yes"');
  });

  it('calls of another model carry what Gemini 3 wants to see in place of a signature', () => {
    const { list } = convert([ask, ...exchange('a'), ...exchange('b')], 'gemini');
    const check = (value: unknown) =>
      findContract('gemini')!.check(value, { scope: 'messages', model: 'gemini-3-pro' });
    const bare = JSON.parse(JSON.stringify(list), (key, value: unknown) =>
      key === 'thoughtSignature' ? undefined : value,
    ) as unknown;

    expect(check(list)).toEqual([]);
    expect(check(bare)).not.toEqual([]);
  });

  it('answers with nothing between them become one', () => {
    const answer = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] });
    const { list } = convert([ask, answer('one'), { role: 'user', content: [] }, answer('two')], 'gemini');

    expect(list).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ text: 'one' }, { text: 'two' }] },
    ]);
  });

  it('an unknown target is refused with those there are', () => {
    expect(() => convertConversation(readConversation([ask]), 'morse')).toThrow(/converted to "morse"/);
  });
});
