import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import { openWebui } from './reader.ts';

const read = (...records: readonly unknown[]) => foldRecords(openWebui, records);
const readOne = (...records: readonly unknown[]) => foldTranscript(openWebui, records);

type ChatMessage = Readonly<Record<string, unknown>> & { readonly id: string };

/** A chat whose messages follow each other; the last one is current. */
function chat(...messages: readonly Readonly<Record<string, unknown>>[]) {
  const linked = messages.map(
    (message, index): ChatMessage => ({
      id: `n${index}`,
      parentId: index === 0 ? null : `n${index - 1}`,
      timestamp: 1_750_000_000 + index,
      ...message,
    }),
  );
  return tree(linked, linked.at(-1)?.id);
}

function tree(messages: readonly ChatMessage[], currentId: string | undefined, fields: object = {}) {
  const byId = Object.fromEntries(messages.map((message) => [message.id, message]));
  return {
    id: 'c-1',
    title: 'Kilns',
    chat: { models: ['llama3'], history: { messages: byId, currentId }, messages: [], ...fields },
  };
}

const user = (content: string, fields: object = {}) => ({ role: 'user', content, ...fields });
const assistant = (content: string, fields: object = {}) => ({
  role: 'assistant',
  content,
  model: 'gpt-5',
  done: true,
  ...fields,
});
function escapeHtml(text: string) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');
}

function folded(id: string, input: unknown, output: unknown, done = 'true') {
  const given = `arguments="${escapeHtml(JSON.stringify(input))}" result="${escapeHtml(JSON.stringify(output))}"`;
  return `<details type="tool_calls" done="${done}" id="${id}" name="ls" ${given} files="" embeds="">\n<summary>Tool Executed</summary>\n</details>\n`;
}

const reasoning =
  '<details type="reasoning" done="true" duration="2">\n<summary>Thought</summary>\n> hm\n</details>\n';

function toolCall(id: string, input: string) {
  return { id, type: 'function', function: { name: 'ls', arguments: input } };
}

describe('a chat of Open WebUI', () => {
  it('is the branch that ends in the current message', () => {
    const messages = [
      { id: 'a', parentId: null, ...user('hi') },
      { id: 'b', parentId: 'a', ...assistant('hello') },
      {
        id: 'c',
        parentId: 'a',
        ...assistant('good day', { usage: { prompt_tokens: 12, completion_tokens: 3 } }),
      },
    ];
    const transcript = readOne(tree(messages, 'c', { params: { system: 'Be polite.' } }));
    expect(transcript).toMatchObject({
      reader: 'open-webui',
      format: 'openai-chat',
      title: 'Kilns',
      model: 'gpt-5',
    });
    expect(bodyOf(transcript)).toEqual([
      { role: 'system', content: 'Be polite.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'good day' },
    ]);
    expect(transcript.segments[0]?.origins[2]).toMatchObject({
      place: { line: 1, path: 'chat.history.messages.c' },
      usage: { promptTokens: 12, outputTokens: 3 },
    });
    expect(transcript.notes).toEqual(['1 message of other branches left out']);
  });

  it('has times in seconds', () => {
    expect(readOne(chat(user('hi'))).segments[0]?.origins[0]?.timestamp).toBe('2025-06-15T15:06:40.000Z');
  });

  it('is the flat list where the tree leads nowhere, and may stand without its envelope', () => {
    const flat = {
      models: ['llama3'],
      history: { messages: {}, currentId: 'gone' },
      messages: [user('hi'), 7],
    };
    expect(bodyOf(readOne({ title: 'x', chat: flat }))).toEqual([{ role: 'user', content: 'hi' }]);
    expect(readOne(flat)).toMatchObject({ title: 'chat 1', model: 'llama3' });
    expect(readOne(flat).segments[0]?.origins[0]?.place).toEqual({ line: 1, path: 'messages.0' });
  });

  it('ends where a circle would begin', () => {
    const messages = [
      { id: 'a', parentId: 'b', ...user('1') },
      { id: 'b', parentId: 'a', ...user('2') },
    ];
    expect(bodyOf(readOne(tree(messages, 'b')))).toEqual([user('1'), user('2')]);
  });

  it('is not fooled by names that every object has', () => {
    const transcript = readOne(tree([{ id: 'a', parentId: '__proto__', ...user('1') }], 'a'));
    expect(bodyOf(transcript)).toEqual([user('1')]);
    expect(transcript.notes).toEqual([]);
    expect(bodyOf(readOne(tree([], 'constructor')))).toEqual([]);
  });

  it('is given as soon as it is read', () => {
    const fold = openWebui.open(() => undefined);
    expect([...fold.add({ value: chat(user('hi')), place: {}, kind: 'element', document: 0 })]).toHaveLength(
      1,
    );
    expect([...fold.end()]).toEqual([]);
  });

  it('sends images whose bytes or address it has', () => {
    const files = [
      { type: 'image', url: 'data:image/png;base64,aGk=' },
      { type: 'image', url: 'f-123' },
      { type: 'file', id: 'f-9' },
    ];
    const transcript = readOne(chat(user('see', { files })));
    expect(bodyOf(transcript)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
    ]);
    expect(transcript.notes).toEqual(['2 attached files whose content is not in the export left out']);
  });

  it('leaves out messages without content, and counts them', () => {
    const transcript = readOne(chat(user('hi'), assistant('', { error: { content: 'offline' } }), user('')));
    expect(bodyOf(transcript)).toEqual([{ role: 'user', content: 'hi' }]);
    expect(transcript.notes).toEqual(['2 messages without content left out']);
  });
});

describe('an expanded output list', () => {
  const said = (text: string) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  });
  const called = (id: string) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'ls',
    arguments: `{"n":"${id}"}`,
  });
  const gave = (id: string, text = `out ${id}`) => ({
    type: 'function_call_output',
    call_id: id,
    output: [{ type: 'input_text', text }],
  });
  const turn = (content: string | null, ...ids: readonly string[]) => ({
    role: 'assistant',
    content,
    ...(ids.length > 0 ? { tool_calls: ids.map((id) => toolCall(id, `{"n":"${id}"}`)) } : {}),
  });
  const answer = (id: string, content = `out ${id}`) => ({ role: 'tool', tool_call_id: id, content });

  it.each([
    {
      why: 'calls and results become rounds',
      output: [said('Look.'), called('a'), gave('a'), said('Done.')],
      messages: [turn('Look.', 'a'), answer('a'), turn('Done.')],
    },
    {
      why: 'pieces of text in a row are one text',
      output: [said('Look.'), said('Closely.'), called('a'), gave('a')],
      messages: [turn('Look.\nClosely.', 'a'), answer('a')],
    },
    {
      why: 'parallel results come in the order of the calls',
      output: [called('a'), called('b'), gave('b'), gave('a')],
      messages: [turn(null, 'a', 'b'), answer('a'), answer('b')],
    },
    {
      why: 'text between a call and its result stands behind both',
      output: [called('a'), said('meanwhile'), gave('a')],
      messages: [turn(null, 'a'), answer('a'), turn('meanwhile')],
    },
    {
      why: 'a call without a result stays without one',
      output: [called('a'), said('?')],
      messages: [turn(null, 'a'), turn('?')],
    },
    {
      why: 'a result without a call keeps its place',
      output: [said('x'), gave('z'), said('y')],
      messages: [turn('x'), answer('z'), turn('y')],
    },
    {
      why: 'a second result of a call keeps its place',
      output: [called('a'), gave('a', 'one'), said('x'), gave('a', 'two')],
      messages: [turn(null, 'a'), answer('a', 'one'), turn('x'), answer('a', 'two')],
    },
    {
      why: 'an id that is used twice pairs in order',
      output: [called('a'), gave('a', 'one'), called('a'), gave('a', 'two')],
      messages: [turn(null, 'a'), answer('a', 'one'), turn(null, 'a'), answer('a', 'two')],
    },
  ])('is what the message stands for: $why', ({ output, messages }) => {
    expect(bodyOf(readOne(chat(assistant(folded('q', {}, 'lost'), { output }))))).toEqual(messages);
  });

  it('loses reasoning and what the chat format cannot say, and counts both', () => {
    const image = {
      type: 'function_call_output',
      call_id: 'a',
      output: [{ type: 'input_image', image_url: 'x' }],
    };
    const transcript = readOne(
      chat(
        assistant('', {
          output: [
            { type: 'reasoning', summary: [] },
            called('a'),
            image,
            { type: 'open_webui:code_interpreter' },
          ],
        }),
      ),
    );
    expect(bodyOf(transcript)).toEqual([turn(null, 'a'), answer('a', '')]);
    expect(transcript.notes).toEqual([
      '1 part of tool results that the chat format has no place for left out',
      '1 reasoning block left out: shown, never sent',
      '1 output item that the chat format has no place for left out',
    ]);
  });

  it('gives way to the content when it has neither tools nor more text', () => {
    const transcript = readOne(
      chat(assistant('the whole answer', { output: [said('the whole'), { type: 'reasoning' }] })),
    );
    expect(bodyOf(transcript)).toEqual([turn('the whole answer')]);
    expect(transcript.notes).toEqual([]);
  });
});

describe('folded blocks', () => {
  it('are unfolded when every one is complete, each as a round', () => {
    const content = `Look.\n${folded('a', '{"n": 1}', 'one "two"')}${folded('b', { n: 2 }, { ok: true })}\nDone.`;
    const transcript = readOne(chat(assistant(content, { usage: { prompt_eval_count: 9, eval_count: 1 } })));
    expect(bodyOf(transcript)).toEqual([
      { role: 'assistant', content: 'Look.', tool_calls: [toolCall('a', '{"n": 1}')] },
      { role: 'tool', tool_call_id: 'a', content: 'one "two"' },
      { role: 'assistant', content: null, tool_calls: [toolCall('b', '{"n":2}')] },
      { role: 'tool', tool_call_id: 'b', content: '{"ok":true}' },
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(transcript.segments[0]?.origins.map(({ usage }) => usage?.promptTokens)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      9,
    ]);
  });

  it.each([
    { why: 'one still runs', block: folded('b', '{}', '', 'false') },
    {
      why: 'one has no result',
      block: '<details type="tool_calls" done="true" id="b" name="ls" arguments="{}">\n</details>',
    },
    { why: 'one has no id', block: folded('', '{}', 'x') },
  ])('stay folded, all of them, when $why', ({ block }) => {
    const content = `Look.\n${folded('a', '{}', 'x')}${block}`;
    const transcript = readOne(chat(assistant(content)));
    expect(bodyOf(transcript)).toEqual([{ role: 'assistant', content }]);
    expect(transcript.notes).toEqual(['1 message with incomplete folded tool calls left folded']);
  });

  it('of reasoning are left out; those of other kinds stay', () => {
    const code = '<details type="code_interpreter" done="true">\n</details>';
    const transcript = readOne(chat(assistant(`${reasoning}Answer.\n${code}`)));
    expect(bodyOf(transcript)).toEqual([{ role: 'assistant', content: `Answer.\n${code}` }]);
    expect(transcript.notes).toEqual(['1 reasoning block left out: shown, never sent']);
  });

  it('alone in a message leave nothing of it', () => {
    expect(bodyOf(readOne(chat(user('hi'), assistant(reasoning))))).toHaveLength(1);
  });

  it('do not touch text without blocks', () => {
    const content = '  indented\n\n<details>mine</details> ';
    expect(bodyOf(readOne(chat(assistant(content))))).toEqual([{ role: 'assistant', content }]);
  });

  test.prop([fc.array(fc.tuple(fc.string(), fc.string(), fc.string()), { minLength: 1, maxLength: 5 })])(
    'give back arguments and results exactly',
    (calls) => {
      const content = calls
        .map(([text, input, output], index) => `${escapeHtml(text)}${folded(`c${index}`, input, output)}`)
        .join('');
      const messages = bodyOf(readOne(chat(assistant(content)))) as {
        role: string;
        content: string;
        tool_calls: { function: { arguments: string } }[];
      }[];
      const tools = messages.filter(({ role }) => role === 'tool');
      const asked = messages.flatMap(({ tool_calls: list }) => list ?? []);
      expect(tools.map((message) => message.content)).toEqual(calls.map(([, , output]) => output));
      expect(asked.map((call) => call.function.arguments)).toEqual(calls.map(([, input]) => input));
    },
  );
});

describe('odd chats', () => {
  it.each([null, 3, {}, { chat: 3 }, { chat: { messages: [] } }, { history: [] }])(
    'are named with their place: %j',
    (value) => {
      expect(read(value)).toMatchObject({ transcripts: [], bad: [{ place: { line: 1 } }] });
    },
  );

  test.prop([
    fc.array(
      fc.record({
        id: fc.constant('n0'),
        role: fc.constantFrom('user', 'assistant', 'tool', 3),
        content: fc.anything(),
        files: fc.anything(),
        output: fc.array(fc.anything()),
        usage: fc.anything(),
      }),
      { minLength: 1, maxLength: 1 },
    ),
  ])('never make it throw', (messages) => {
    expect(() => read(tree(messages, 'n0'))).not.toThrow();
  });
});
