import { test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { oddLike } from '../../../test/support/odd-values.ts';
import { isObject } from '../../conversation/json.ts';
import { openItems } from './open-work.ts';

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
