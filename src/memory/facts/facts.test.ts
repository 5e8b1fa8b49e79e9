import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { oddLike } from '../../../test/support/odd-values.ts';
import { isObject } from '../../conversation/json.ts';
import { summaryMessageText } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { type FactKind, factsOf, openItems } from './facts.ts';

const todos = [
  { content: 'read', status: 'completed' },
  { content: 'write', status: 'in_progress', activeForm: 'writing' },
  { content: 'test', status: 'pending' },
];

describe('openItems', () => {
  it.each([
    { tool: 'TodoWrite', input: { todos }, open: ['write', 'test'] },
    {
      tool: 'update_plan',
      input: {
        plan: [
          { step: 'a', status: 'Completed' },
          { step: 'b', status: 'pending' },
        ],
      },
      open: ['b'],
    },
    {
      tool: 'task_tracker',
      input: {
        command: 'plan',
        task_list: [
          { title: 'a', status: 'todo' },
          { title: 'b', status: 'done' },
        ],
      },
      open: ['a'],
    },
    {
      tool: 'checklist',
      input: {
        items: [
          { text: 'a', done: false },
          { text: 'b', done: true },
        ],
      },
      open: ['a'],
    },
    {
      tool: 'update_todo_list',
      input: { todos: '- [x] read\n- [ ] write\n  - [-] test\nnot an item' },
      open: ['write', 'test'],
    },
    { tool: 'todo', input: { todos: JSON.stringify(todos) }, open: ['write', 'test'] },
    { tool: 'TodoWrite', input: { todos: [] }, open: [] },
    { tool: 'TodoWrite', input: { todos: [todos[0], null, 7] }, open: [] },
  ])('reads what $tool leaves open: $open', ({ tool, input, open }) => {
    expect(openItems(tool, input)).toEqual(open);
  });

  it.each([
    { title: 'a tool that keeps no list', tool: 'get_order', input: { items: todos } },
    { title: 'a list of something else', tool: 'create_task', input: { tasks: [1, 'two', ['three']] } },
    { title: 'a plan in prose', tool: 'ExitPlanMode', input: { plan: '# First\nread everything' } },
    { title: 'no arguments', tool: 'TodoWrite', input: undefined },
    { title: 'a list that is inherited', tool: 'TodoWrite', input: Object.create({ todos }) as object },
  ])('reads no list from $title', ({ tool, input }) => {
    expect(openItems(tool, input as never)).toBeUndefined();
  });

  test.prop([oddLike([{ todos, plan: '- [ ] x', items: todos }])])('takes anything', (input) => {
    const open = openItems('todo', isObject(input) ? input : undefined);

    expect(open === undefined || open.every((item) => typeof item === 'string')).toBe(true);
  });
});

const read = (list: readonly unknown[]) => list.map(anthropicMessages.readMessage);
const user = (content: unknown) => ({ role: 'user', content });
const call = (name: string, input: unknown) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: 't', name, input }],
});
const result = (content: string, isError = false) =>
  user([{ type: 'tool_result', tool_use_id: 't', content, is_error: isError }]);

const textsOf = (kind: FactKind, list: readonly unknown[]) =>
  factsOf(read(list)).flatMap((fact) => (fact.kind === kind ? [fact.text] : []));

describe('factsOf', () => {
  it.each([
    { kind: 'constraint', list: [user('Hi. Never push to main. Thanks.')], texts: ['Never push to main.'] },
    { kind: 'ask', list: [user('Fix the login. It is broken.')], texts: ['Fix the login.'] },
    { kind: 'path', list: [call('Write', { file_path: '/a/b.ts', content: 'x' })], texts: ['/a/b.ts'] },
    { kind: 'path', list: [call('Read', { file_path: '/a/b.ts' })], texts: [] },
    {
      kind: 'path',
      list: [call('apply_patch', { input: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** End Patch' })],
      texts: ['src/a.ts'],
    },
    { kind: 'command', list: [call('Bash', { command: 'npm test\necho done' })], texts: ['npm test'] },
    { kind: 'command', list: [call('shell', { command: ['bash', '-lc', 'ls -la'] })], texts: ['ls -la'] },
    { kind: 'error', list: [result('ENOENT: no such file\n  at x', true)], texts: ['ENOENT: no such file'] },
    { kind: 'error', list: [result('ENOENT: no such file')], texts: [] },
    {
      kind: 'id',
      list: [user('see https://example.org/a and ORD-1234X')],
      texts: ['https://example.org/a', 'ORD-1234X'],
    },
    { kind: 'number', list: [call('refund', { order: 'number 48210', amount: '20' })], texts: ['48210'] },
    {
      kind: 'open-work',
      list: [call('TodoWrite', { todos: [{ content: 'test', status: 'pending' }] })],
      texts: ['test'],
    },
  ] as const)('finds $kind: $texts', ({ kind, list, texts }) => {
    expect(textsOf(kind, list)).toEqual(texts);
  });

  it('reads what the user writes beside the result of a tool', () => {
    const mixed = user([
      { type: 'tool_result', tool_use_id: 't', content: 'You must obey.' },
      { type: 'text', text: 'Never push to main.' },
    ]);

    expect(textsOf('constraint', [mixed])).toEqual(['Never push to main.']);
  });

  it.each([
    { title: 'the result of a tool', message: result('Never push to main.') },
    { title: 'an answer', message: { role: 'assistant', content: 'I must never push to main.' } },
    { title: 'a summary', message: user(summaryMessageText('- [constraint] Never push to main.')) },
  ])('takes no demand from $title', ({ message }) => {
    expect(textsOf('constraint', [message])).toEqual([]);
  });

  it('lets a newer list of things to do take the place of an older one, also when it is done', () => {
    const list = (content: string, status: string) => call('TodoWrite', { todos: [{ content, status }] });
    const earlier = [{ kind: 'open-work', text: 'from before' }] as const;

    expect(textsOf('open-work', [list('old', 'pending'), list('new', 'pending')])).toEqual(['new']);
    expect(textsOf('open-work', [list('old', 'pending'), list('old', 'completed')])).toEqual([]);
    expect(factsOf(read([call('Bash', {})]), earlier)).toEqual(earlier);
    expect(factsOf(read([list('old', 'completed')]), earlier)).toEqual([]);
  });

  it('names each fact once, the newest last, and of everything but demands the newest 200', () => {
    const numbers = Array.from({ length: 1000 }, (_, index) => String(10_000 + index));
    const demands = numbers.map((number) => `Never use ${number}.`);
    const facts = factsOf(read([user([...demands, ...demands].join('\n')), user('10000')]));
    const textsOfKind = (kind: FactKind) =>
      facts.filter((fact) => fact.kind === kind).map(({ text }) => text);

    expect(textsOfKind('constraint')).toEqual(demands);
    expect(textsOfKind('number')).toEqual([...numbers.slice(-199), '10000']);
  });

  it('never cuts a pair of code units in two', () => {
    const [ask] = textsOf('ask', [user(`${'x'.repeat(299)}😀 and more`)]);

    expect(ask).toBe('x'.repeat(299));
  });

  it('finds the newest names of a text of any length', () => {
    expect(textsOf('number', [user(`123456 ${'word '.repeat(200_000)} 654321`)])).toEqual(['654321']);
  });

  const samples = [
    user('Never do it.'),
    call('TodoWrite', { todos: [{ content: 'a', status: 'pending' }], command: 'ls', file_path: '/a/b' }),
    call('Bash', { command: ['bash', '-lc', 'x'] }),
    result('failed', true),
  ];
  test.prop([fc.array(oddLike(samples))])('takes anything and gives single lines', (list) => {
    for (const { text } of factsOf(deepFreeze(read(list)))) {
      expect(text).not.toBe('');
      expect(text).not.toContain('\n');
    }
  });
});
