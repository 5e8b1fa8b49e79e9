import type { JsonObject } from '../../conversation/json.ts';

/** Keys under which tools keep lists of things to do. The first ones mean nothing else. */
const SURE_KEYS = ['todos', 'todo_list', 'todoList', 'task_list', 'plan'];
const OTHER_KEYS = ['tasks', 'items', 'steps'];
const LIST_TOOL = /todo|task|plan|checklist/i;

const TEXT_KEYS = ['content', 'step', 'title', 'text', 'description', 'task', 'name'];
const DONE = new Set([
  'completed',
  'complete',
  'done',
  'finished',
  'cancelled',
  'canceled',
  'closed',
  'skipped',
]);
const DONE_KEYS = ['done', 'completed'];

/** A line of a list in Markdown: `- [ ] this is open`, `- [x] this is not`. */
const CHECK_LINE = /^\s{0,20}[-*] \[(.)\] (.{1,2000})$/;

/** Longer lists are data. */
const MOST_ITEMS = 200;
const LONGEST_LIST = 50_000;

/**
 * What the list of things to do still holds that a call with these arguments writes, in its order; undefined when the
 * call writes no such list. A list that is empty, or done, holds nothing.
 */
export function openItems(tool: string, input: JsonObject | undefined): readonly string[] | undefined {
  if (input === undefined) return undefined;
  const isListTool = LIST_TOOL.test(tool);
  for (const key of [...SURE_KEYS, ...(isListTool ? OTHER_KEYS : [])]) {
    if (!Object.hasOwn(input, key)) continue;
    const items = itemsIn(input[key]);
    if (items !== undefined) return items;
  }
  return undefined;
}

function itemsIn(list: unknown): readonly string[] | undefined {
  if (typeof list === 'string') return itemsInText(list);
  if (!Array.isArray(list)) return undefined;
  const values: readonly unknown[] = list.slice(0, MOST_ITEMS);
  const items = values.map(readItem).filter((item) => item !== undefined);
  // Something else that goes by the same name: amounts, ids, lists of lists.
  if (items.length === 0 && values.length > 0) return undefined;
  return items.filter(({ isDone, text }) => !isDone && text !== '').map(({ text }) => text);
}

interface Item {
  readonly text: string;
  readonly isDone: boolean;
}

function readItem(value: unknown): Item | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const item = new Map<string, unknown>(Object.entries(value));
  const status = item.get('status') ?? item.get('state');
  const isDone = DONE_KEYS.some((key) => item.get(key) === true);
  if (typeof status !== 'string' && !DONE_KEYS.some((key) => typeof item.get(key) === 'boolean'))
    return undefined;
  const text = TEXT_KEYS.map((key) => item.get(key)).find((each) => typeof each === 'string');
  return {
    text: typeof text === 'string' ? text : '',
    isDone: isDone || (typeof status === 'string' && DONE.has(status.trim().toLowerCase())),
  };
}

/** A list as JSON, or as lines with boxes to tick. */
function itemsInText(text: string): readonly string[] | undefined {
  if (text.length > LONGEST_LIST) return undefined;
  const lines = text.split('\n').map((line) => CHECK_LINE.exec(line.trimEnd()));
  const boxes = lines.filter((match) => match !== null).slice(0, MOST_ITEMS);
  if (boxes.length === 0) return text.trimStart().startsWith('[') ? itemsIn(parseList(text)) : undefined;
  return boxes.filter(([, box = '']) => !'xX✓✔'.includes(box)).map(([, , item = '']) => item.trim());
}

function parseList(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}
