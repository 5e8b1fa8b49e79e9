import { createHash } from 'node:crypto';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { withMessages } from '../../src/conversation/index.ts';
import { foldView } from '../../src/formats/folded/fold.ts';
import { shortenToolIds } from '../../src/formats/folded/short-tool-ids.ts';
import { unfoldView } from '../../src/formats/folded/unfold.ts';
import { type Conversation, writeConversation } from '../../src/index.ts';
import { chat, toolCall } from '../support/chat-shapes.ts';
import { anthropic, errorsOf, rawsOf } from '../support/small-sessions.ts';

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

interface Called {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly result: string;
}

/** Text with everything in it that means something in the folded form. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.constantFrom(
        '\n',
        '"',
        "'",
        '&',
        '&quot;',
        '&amp;amp;',
        '<details',
        '</details>',
        '>',
        '```',
        '\\',
        '\ud800',
      ),
      fc.constantFrom('<details type="tool_calls"', '<summary>', '</summary>', 'Let me see.', 'done="true"'),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

const prose = fc.lorem({ maxCount: 4 });
const someText = fc.option(fc.oneof({ weight: 3, arbitrary: prose }, hostile), { nil: null });
const call: fc.Arbitrary<Called> = fc.record({
  id: fc.oneof({ weight: 4, arbitrary: fc.stringMatching(/^[0-9a-f]{1,8}$/) }, hostile),
  name: fc.constantFrom('ls', 'read_file'),
  input: fc.oneof({ weight: 4, arbitrary: fc.json({ maxDepth: 2 }) }, hostile),
  result: hostile,
});

/** A native answer: rounds of calls, one or more at once, and what the model says at the end. */
const answer = fc
  .record({
    rounds: fc.array(
      fc.record({
        said: someText,
        calls: fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
        isReversed: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    said: someText,
  })
  .map(({ rounds, said }) => [
    ...rounds.flatMap(({ said: text, calls, isReversed }) => {
      const results = calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result }));
      return [
        {
          role: 'assistant',
          content: text,
          tool_calls: calls.map(({ id, input, name }) => toolCall(id, input, name)),
        },
        ...(isReversed ? results.reverse() : results),
      ];
    }),
    ...(said === null ? [] : [{ role: 'assistant', content: said }]),
  ]);

const native = fc
  .array(fc.record({ asked: prose, answer }), { maxLength: 4 })
  .map((turns) => turns.flatMap(({ asked, answer: given }) => [{ role: 'user', content: asked }, ...given]));

/** How others than we write the same block. */
const written = fc
  .record({
    call,
    isInBody: fc.boolean(),
    isJsonText: fc.boolean(),
    done: fc.constantFrom('true', 'true', 'true', 'false'),
  })
  .map(({ call: { id, name, input, result }, isInBody, isJsonText, done }) => {
    const escaped = (text: string) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
    const value = escaped(isJsonText ? JSON.stringify(result) : result);
    const attribute = isInBody ? '' : ` result="${value}"`;
    return `<details type="tool_calls" done="${done}" id="${escaped(id)}" name="${escaped(name)}" arguments="${escaped(input)}"${attribute}>\n<summary>View</summary>\n${isInBody ? `${value}\n` : ''}</details>`;
  });

const foreign = fc.array(
  fc.record({
    role: fc.constantFrom('user', 'assistant', 'assistant', 'assistant'),
    content: fc
      .array(
        fc.oneof(
          { weight: 6, arbitrary: written },
          { weight: 3, arbitrary: prose },
          fc.constant('\n'),
          hostile,
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join('\n')),
  }),
  { maxLength: 5 },
);

/** Says `null` where a call without text says nothing. */
function normal(conversation: Conversation): unknown {
  return rawsOf(conversation).map((raw) => {
    const { content, ...rest } = raw as Record<string, unknown>;
    return { ...rest, content: rest['tool_calls'] !== undefined && content === '' ? null : content };
  });
}

describe('folding and unfolding', () => {
  let unfoldedViews = 0;
  let foldedViews = 0;

  test.prop([foreign], { numRuns: 400 })('what was unfolded folds back into the same bytes', (list) => {
    const conversation = chat(list);
    const bytes = JSON.stringify(list);
    const view = unfoldView(conversation);
    if (view.status !== 'unfolded') {
      expect(view.conversation).toBe(conversation);
      return;
    }
    unfoldedViews++;
    const back = foldView(view.conversation, view.foldings);

    expect(back.status).toBe('folded');
    expect(writeConversation(back.conversation)).toBe(list);
    expect(JSON.stringify(writeConversation(back.conversation))).toBe(bytes);
    expect(unfoldView(view.conversation).status).not.toBe('unfolded');
    const sendable = shortenToolIds(view.conversation, sha1);
    expect(errorsOf(sendable, writeConversation(sendable))).toBe(0);
  });

  test.prop([native], { numRuns: 400 })(
    'what was folded unfolds into the same messages, or is refused',
    (list) => {
      const conversation = chat(list);
      const folded = foldView(conversation);
      if (folded.status === 'refused') {
        expect(folded.conversation).toBe(conversation);
        return;
      }
      foldedViews++;
      const text = JSON.parse(JSON.stringify(writeConversation(folded.conversation))) as readonly unknown[];
      const view = unfoldView(chat(text));

      expect(normal(view.conversation)).toEqual(normal(conversation));
    },
  );

  it('was tried on views that can be unfolded, and on answers that can be folded', () => {
    expect(unfoldedViews).toBeGreaterThan(20);
    expect(foldedViews).toBeGreaterThan(100);
  });

  it('needs the hidden list only where text does not say everything', () => {
    const rounds = (calls: readonly string[]) => [
      { role: 'assistant', content: 'See.', tool_calls: calls.map((id) => toolCall(id)) },
      ...calls.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
    ];
    const outputsOf = (list: readonly unknown[]) =>
      rawsOf(foldView(chat(list)).conversation).map((raw) => Object.hasOwn(raw as object, 'output'));

    expect(outputsOf([...rounds(['a']), ...rounds(['b']), { role: 'assistant', content: 'So.' }])).toEqual([
      false,
    ]);
    expect(outputsOf(rounds(['a', 'b']))).toEqual([true]);
  });

  it.each([
    {
      why: 'a call has no result',
      list: [{ role: 'assistant', content: null, tool_calls: [toolCall('a')] }],
    },
    { why: 'a result has no call', list: [{ role: 'tool', tool_call_id: 'a', content: 'ok' }] },
    {
      why: 'a result is a list of parts',
      list: [
        { role: 'assistant', content: null, tool_calls: [toolCall('a')] },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'ok' }] },
      ],
    },
    {
      why: 'a result has more fields than there is room for',
      list: [
        { role: 'assistant', content: null, tool_calls: [toolCall('a')] },
        { role: 'tool', tool_call_id: 'a', content: 'ok', name: 'ls' },
      ],
    },
    {
      why: 'an answer looks folded',
      list: [{ role: 'assistant', content: '<details type="tool_calls" done="false">\n</details>' }],
    },
  ])('is refused when $why', ({ list }) => {
    const conversation = chat(list);

    expect(foldView(conversation)).toEqual({ status: 'refused', conversation, index: 0 });
  });

  it('leaves other formats alone', () => {
    const conversation = anthropic([{ role: 'assistant', content: '<details type="tool_calls" id="a"' }]);

    expect(unfoldView(conversation)).toEqual({ status: 'plain', conversation });
    expect(foldView(conversation)).toEqual({ status: 'folded', conversation });
  });
});

describe('folding back what was changed', () => {
  const block = (id: string, result: string) =>
    `<details type="tool_calls" done="true" id="${id}" name="ls" arguments="{&quot;a&quot;: 1}" result="${result}" files="[1]" embeds="">\n<summary>Ran &amp; read</summary>\n</details>\n`;
  const list = [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: `See.\n\n${block('a', 'one &amp; all')}\n${block('b', '[2]')}\n\nSo.`,
      model: 'm',
    },
    { role: 'user', content: 'on' },
    ...[{ role: 'assistant', content: null, tool_calls: [toolCall('a')] }],
    { role: 'tool', tool_call_id: 'a', content: 'native, under an id that was used before' },
  ];
  const view = unfoldView(chat(list));
  const foldings = view.status === 'unfolded' ? view.foldings : [];
  const { messages, format } = view.conversation;
  const refold = (kept: typeof messages) => foldView(withMessages(view.conversation, kept), foldings);

  it('gives each call a round of its own, and other fields to the last message', () => {
    expect(rawsOf(view.conversation).slice(1, 6)).toEqual([
      { role: 'assistant', content: 'See.\n', tool_calls: [toolCall('a', '{"a": 1}')] },
      { role: 'tool', tool_call_id: 'a', content: 'one & all' },
      { role: 'assistant', content: null, tool_calls: [toolCall('b', '{"a": 1}')] },
      { role: 'tool', tool_call_id: 'b', content: '[2]' },
      { role: 'assistant', content: '\n\nSo.', model: 'm' },
    ]);
  });

  it('replaces a result and nothing else', () => {
    const cleared = messages.map((message, index) =>
      index === 2
        ? format.readMessage({ role: 'tool', tool_call_id: 'a', content: '[cleared "x"]' })
        : message,
    );
    const back = refold(cleared);
    const content = list[1]?.content?.replace('one &amp; all', '&quot;[cleared \\&quot;x\\&quot;]&quot;');

    expect(writeConversation(back.conversation)).toEqual([
      list[0],
      { ...list[1], content },
      ...list.slice(2),
    ]);
  });

  it('folds what is left when calls were dropped', () => {
    const back = refold([...messages.slice(0, 1), ...messages.slice(3)]);
    const again = unfoldView(back.conversation);

    expect(back.conversation.messages).toHaveLength(5);
    expect(rawsOf(again.conversation)).toEqual(
      rawsOf({ messages: [...messages.slice(0, 1), ...messages.slice(3)] }),
    );
  });

  it('keeps an answer whose calls are all gone as it is', () => {
    const kept = [...messages.slice(0, 1), ...messages.slice(5)];

    expect(refold(kept).conversation.messages).toEqual(kept);
  });

  it('is refused when half of a pair is left', () => {
    expect(refold([...messages.slice(0, 1), ...messages.slice(2, 3)])).toMatchObject({
      status: 'refused',
      index: 1,
    });
  });

  it('changes the hidden list as well', () => {
    const output = [
      { type: 'reasoning', summary: [] },
      { type: 'function_call', call_id: 'p', name: 'ls', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'p',
        output: [{ type: 'input_text', text: 'long' }],
        status: 'completed',
      },
      { type: 'message', content: [{ type: 'output_text', text: 'So.' }] },
    ];
    const hidden = unfoldView(chat([{ role: 'assistant', content: 'So.', output }]));
    const changed = hidden.conversation.messages.map((message, index) =>
      index === 1 ? format.readMessage({ role: 'tool', tool_call_id: 'p', content: 'short' }) : message,
    );
    const back = foldView(
      withMessages(hidden.conversation, changed),
      hidden.status === 'unfolded' ? hidden.foldings : [],
    );

    expect(writeConversation(back.conversation)).toEqual([
      {
        role: 'assistant',
        content: 'So.',
        output: output.map((item) =>
          item.type === 'function_call_output'
            ? { ...item, output: [{ type: 'input_text', text: 'short' }] }
            : item,
        ),
      },
    ]);
  });
});

describe('what cannot be unfolded exactly', () => {
  const good = (fields = ' id="a" name="ls" arguments="{}" result="1"') =>
    `<details type="tool_calls" done="true"${fields}>\n<summary>Ran</summary>\n</details>`;
  const megabyte = '&lt;'.repeat(262_144);
  const call = { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{}' };
  const result = { type: 'function_call_output', call_id: 'a', output: '1' };

  it.each([
    { content: good().replace('done="true"', 'done="false"'), reason: 'unfinished' },
    { content: good(' id="a" name="ls" arguments="{}"'), reason: 'incomplete' },
    { content: good(' id="" name="ls" arguments="{}" result="1"'), reason: 'incomplete' },
    { content: good(' id="a" name="ls" arguments="" result="1"'), reason: 'incomplete' },
    { content: good(' id="a" name="l s" arguments="{}" result="1"'), reason: 'illegal-name' },
    { content: good(' id="a" name="ls" arguments="{}" result="1" result="2"'), reason: 'damaged' },
    { content: good(' id="a" name="ls" arguments="{}" result="&quot;half"'), reason: 'damaged' },
    { content: good(" id='a' name='ls' arguments='{}' result='1'"), reason: 'damaged' },
    { content: good().replace('</details>', ''), reason: 'damaged' },
    { content: good().slice(0, 60), reason: 'damaged' },
    {
      content: good().replace('type="tool_calls" done="true"', 'done="true" type="tool_calls"'),
      reason: 'damaged',
    },
    { content: good().replace('Ran', good()), reason: 'nested' },
    { content: `<details type="reasoning">\n${good()}\n</details>`, reason: 'nested' },
    { content: `Like ${good()}`, reason: 'inline' },
    { content: `So:\n\`\`\`html\n${good()}\n\`\`\``, reason: 'inside-code' },
    { content: [{ type: 'text', text: good() }], reason: 'content-parts' },
    { content: good(), tool_calls: [toolCall('b')], reason: 'own-calls' },
    {
      content: good(),
      output: [
        { ...call, call_id: 'z' },
        { ...result, call_id: 'z' },
      ],
      reason: 'output-differs',
    },
    {
      content: `${good()}\nEdited.`,
      output: [call, result, { type: 'message', content: [{ text: 'As it was.' }] }],
      reason: 'output-differs',
    },
    { content: good(` id="a" name="ls" arguments="{}" result="${megabyte}`), reason: 'damaged' },
    { content: '<details type="tool_calls" '.repeat(50_000), reason: 'damaged' },
    { content: `${good()}\n<details\n`.repeat(20_000), reason: 'nested' },
  ])('$reason: $content', ({ reason, ...fields }) => {
    const conversation = chat([
      { role: 'user', content: 'go' },
      { role: 'assistant', ...fields },
    ]);

    expect(unfoldView(conversation)).toEqual({ status: 'refused', conversation, index: 1, reason });
  });

  it.each([
    {
      title: 'a megabyte of references',
      content: good(` id="a" name="ls" arguments="{}" result="${megabyte}"`),
      count: 2,
    },
    { title: 'ten thousand calls', content: `${good()}\n`.repeat(10_000), count: 20_000 },
    {
      title: 'reasoning around a call',
      content: `<details type="reasoning">\n> hm\n</details>\n${good()}`,
      count: 2,
    },
    { title: 'a closed block of code before it', content: `\`\`\`\nx\n\`\`\`\n${good()}`, count: 2 },
  ])('but $title unfolds, and folds back', ({ content, count }) => {
    const list = [{ role: 'assistant', content }];
    const view = unfoldView(chat(list));

    expect(view.status).toBe('unfolded');
    expect(view.conversation.messages).toHaveLength(count);
    expect(
      writeConversation(
        foldView(view.conversation, view.status === 'unfolded' ? view.foldings : []).conversation,
      ),
    ).toEqual(list);
  });

  it('a hidden list whose text is made to be looked for in vain is compared all the same', () => {
    const half = 'a'.repeat(250_000);
    const output = [call, result, { type: 'message', content: [{ text: `${half}b${half}` }] }];
    const conversation = chat([{ role: 'assistant', content: `${good()}\n${half.repeat(4)}`, output }]);

    expect(unfoldView(conversation)).toMatchObject({ status: 'refused', reason: 'output-differs' });
  });

  it.each([
    { title: 'a call without a result', output: [call] },
    { title: 'a result without a call', output: [result] },
    { title: 'two calls under one id', output: [call, call, result, result] },
    { title: 'a call between two results', output: [call, { ...call, call_id: 'b' }, result, call] },
    { title: 'a picture for a result', output: [call, { ...result, output: [{ type: 'input_image' }] }] },
    { title: 'an item that chat has no place for', output: [call, result, { type: 'web_search_call' }] },
    { title: 'no list', output: 'x' },
    { title: 'nothing but what is said already', output: [{ type: 'message', content: [{ text: 'So.' }] }] },
    { title: 'other words', output: [{ type: 'message', content: [{ text: 'quite other words' }] }] },
  ])('a hidden list with $title counts for nothing, and goes', ({ output }) => {
    const view = unfoldView(chat([{ role: 'assistant', content: 'So.', output }]));

    expect(rawsOf(view.conversation)).toEqual([{ role: 'assistant', content: 'So.' }]);
  });

  test.prop([hostile])('any text is plain, unfolded or refused', (content) => {
    expect(['plain', 'unfolded', 'refused']).toContain(
      unfoldView(chat([{ role: 'assistant', content }])).status,
    );
  });
});
