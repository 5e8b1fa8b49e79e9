/** Reads tool calls: which files a call changes or looks at, which command it runs, which to-do list it writes. */

import { isObject, type JsonObject } from '../conversation/json.ts';
import { callArguments, type ToolCallBlock } from '../conversation/message.ts';

/** One replacement in a file: the old text and the new one. */
export interface Change {
  /** Undefined: the whole file is written. */
  readonly old: string | undefined;
  readonly new: string;
}

/** What is done to one file. */
export interface FileChange {
  readonly path: string;
  readonly changes: readonly Change[];
  readonly isRemoved?: boolean;
}

/** A part of a file that is looked at. */
export interface FileLook {
  readonly path: string;
  /** Number of the first line, where the call tells it. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** An item of a list of things to do. */
export interface TaskItem {
  readonly id: string | undefined;
  readonly text: string | undefined;
  readonly status: string | undefined;
  readonly detail?: string | undefined;
}

/** What a tool call does. The shape of its arguments decides first, the name of the tool last. */
export type Action =
  | { readonly kind: 'change'; readonly files: readonly FileChange[] }
  | { readonly kind: 'look'; readonly files: readonly FileLook[] }
  | { readonly kind: 'search'; readonly what: string; readonly where: string | undefined }
  | { readonly kind: 'run'; readonly command: string; readonly folder: string | undefined }
  | { readonly kind: 'poll'; readonly session: string }
  | { readonly kind: 'tasks'; readonly items: readonly TaskItem[]; readonly isWhole: boolean }
  | { readonly kind: 'ask'; readonly questions: readonly string[] }
  | { readonly kind: 'delegate'; readonly what: string; readonly prompt: string }
  | { readonly kind: 'finish'; readonly text: string }
  | { readonly kind: 'other'; readonly arguments: string };

const PATHS = [
  'file_path',
  'path',
  'filePath',
  'filename',
  'file',
  'absolute_path',
  'target_file',
  'notebook_path',
  'relative_path',
];
const OLDS = ['old_string', 'old_str', 'oldText', 'old_text', 'oldString', 'search'];
const NEWS = ['new_string', 'new_str', 'newText', 'new_text', 'newString', 'replace', 'new_source'];
const CONTENTS = ['content', 'file_text', 'contents', 'text', 'new_source'];
const COMMANDS = ['command', 'cmd', 'script'];
const PATTERNS = ['pattern', 'query', 'regex', 'url', 'q', 'search_term'];
const LISTS = ['todos', 'todo_list', 'todoList', 'task_list', 'plan', 'tasks', 'items', 'steps'];
const ITEM_TEXTS = ['content', 'step', 'title', 'subject', 'text', 'description', 'task', 'name'];
const ITEM_IDS = ['taskId', 'task_id', 'id'];
const LONGEST_ARGUMENTS = 4000;

/** Tells what a call does. */
export function actionOf(call: ToolCallBlock): Action {
  const input = callArguments(call);
  if (input === undefined) return ofFreeText(typeof call.input === 'string' ? call.input : '');
  return (
    ofPatch(input) ??
    ofTasks(call.name, input) ??
    ofChange(input) ??
    ofRun(input) ??
    ofConversation(call.name, input) ??
    ofLook(input) ??
    ofSearch(input) ?? { kind: 'other', arguments: shortArguments(input) }
  );
}

function ofFreeText(text: string): Action {
  const files = text.includes('*** Begin Patch') ? patchedFiles(text) : [];
  return files.length > 0
    ? { kind: 'change', files }
    : { kind: 'other', arguments: text.slice(0, LONGEST_ARGUMENTS) };
}

function textAt(input: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined;
    if (typeof value === 'string') return value;
  }
  return undefined;
}

function ofPatch(input: JsonObject): Action | undefined {
  for (const value of Object.values(input)) {
    if (typeof value !== 'string' || !value.includes('*** Begin Patch')) continue;
    const files = patchedFiles(value);
    if (files.length > 0) return { kind: 'change', files };
  }
  return undefined;
}

const PATCH_FILE = /^\*\*\* (Add|Update|Delete) File: (.{1,400})$/;

/** The files of a patch, with each hunk as the lines before and the lines after it. */
function patchedFiles(patch: string): readonly FileChange[] {
  const files: { path: string; changes: Change[]; isRemoved: boolean }[] = [];
  let before: string[] = [];
  let after: string[] = [];
  let isAdded = false;
  const endHunk = () => {
    const file = files.at(-1);
    if (file !== undefined && before.length + after.length > 0)
      file.changes.push({ old: isAdded ? undefined : before.join('\n'), new: after.join('\n') });
    before = [];
    after = [];
  };
  for (const line of patch.split('\n')) {
    const [, kind, path = ''] = PATCH_FILE.exec(line) ?? [];
    if (kind !== undefined) {
      endHunk();
      files.push({ path: path.trim(), changes: [], isRemoved: kind === 'Delete' });
      isAdded = kind === 'Add';
    } else if (line.startsWith('@@')) endHunk();
    else if (line.startsWith('+')) after.push(line.slice(1));
    else if (line.startsWith('-')) before.push(line.slice(1));
    else if (line.startsWith(' ')) {
      before.push(line.slice(1));
      after.push(line.slice(1));
    }
  }
  endHunk();
  return files;
}

function ofChange(input: JsonObject): Action | undefined {
  const path = textAt(input, PATHS);
  if (path === undefined) return undefined;
  const edits = input['edits'];
  const pairs = (Array.isArray(edits) ? edits.filter(isObject) : [input]).flatMap((edit) => {
    const old = textAt(edit, OLDS);
    const text = textAt(edit, NEWS);
    return old === undefined && text === undefined ? [] : [{ old: old ?? '', new: text ?? '' }];
  });
  if (pairs.length > 0) return { kind: 'change', files: [{ path, changes: pairs }] };
  const content = textAt(input, CONTENTS);
  return content === undefined
    ? undefined
    : { kind: 'change', files: [{ path, changes: [{ old: undefined, new: content }] }] };
}

function ofRun(input: JsonObject): Action | undefined {
  const session = input['session_id'] ?? input['shell_id'] ?? input['bash_id'];
  const command = commandIn(input);
  if (command === undefined)
    return session === undefined ? undefined : { kind: 'poll', session: String(session) };
  // An editor's own words for what to do with a file.
  if (textAt(input, PATHS) !== undefined && /^[a-z_]{1,20}$/.test(command)) return undefined;
  return {
    kind: 'run',
    command,
    folder: textAt(input, ['workdir', 'cwd', 'directory', 'working_directory']),
  };
}

/** A command as text, or the last word of `["bash", "-lc", "…"]`. */
function commandIn(input: JsonObject): string | undefined {
  for (const key of COMMANDS) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined;
    const text: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof text === 'string') return text;
  }
  return undefined;
}

function ofTasks(name: string, input: JsonObject): Action | undefined {
  const isListTool = /todo|task|plan|checklist/i.test(name);
  for (const key of LISTS) {
    if (!Object.hasOwn(input, key) || (!isListTool && LISTS.indexOf(key) > 3)) continue;
    const items = itemsIn(input[key]);
    if (items !== undefined) return { kind: 'tasks', items, isWhole: true };
  }
  if (!isListTool || Object.hasOwn(input, 'prompt')) return undefined;
  const item = readItem(input);
  return item === undefined ? undefined : { kind: 'tasks', items: [item], isWhole: false };
}

function itemsIn(list: unknown): readonly TaskItem[] | undefined {
  if (typeof list === 'string') return itemsInText(list);
  if (!Array.isArray(list) || list.length === 0 || !list.every(isObject)) return undefined;
  const items = list.map(readItem).filter((item) => item !== undefined);
  return items.some(({ text }) => text !== undefined) ? items : undefined;
}

function readItem(input: JsonObject): TaskItem | undefined {
  const id = ITEM_IDS.map((key) => input[key]).find(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  const text = textAt(input, ITEM_TEXTS);
  const status =
    textAt(input, ['status', 'state']) ??
    (input['done'] === true || input['completed'] === true ? 'completed' : undefined);
  const subject = textAt(input, ['subject', 'title']);
  const detail = subject === undefined ? undefined : textAt(input, ['description']);
  if (text === undefined && (id === undefined || status === undefined)) return undefined;
  return { id: id === undefined ? undefined : String(id), text: subject ?? text, status, detail };
}

const BOX = /^\s{0,20}(?:[-*] )?\[(.)\] (.{1,2000})$/;
const BOXES: Readonly<Record<string, string>> = {
  x: 'completed',
  X: 'completed',
  '✓': 'completed',
  '✔': 'completed',
  '-': 'in_progress',
  '~': 'in_progress',
};

function itemsInText(text: string): readonly TaskItem[] | undefined {
  const items = text
    .split('\n')
    .map((line) => BOX.exec(line.trimEnd()))
    .filter((match) => match !== null)
    .map(([, box = '', item = '']) => ({
      id: undefined,
      text: item.trim(),
      status: BOXES[box] ?? 'pending',
    }));
  return items.length === 0 ? undefined : items;
}

function ofConversation(name: string, input: JsonObject): Action | undefined {
  const { questions } = input;
  if (Array.isArray(questions))
    return {
      kind: 'ask',
      questions: questions
        .filter(isObject)
        .flatMap((each) => textAt(each, ['question', 'text', 'prompt']) ?? []),
    };
  const question = textAt(input, ['question']);
  if (question !== undefined && Object.keys(input).length <= 3) return { kind: 'ask', questions: [question] };
  const prompt = textAt(input, ['prompt', 'task', 'instructions', 'message']);
  if (
    prompt !== undefined &&
    (Object.hasOwn(input, 'subagent_type') || /agent|task|delegate|spawn/i.test(name))
  )
    return { kind: 'delegate', what: textAt(input, ['description', 'title']) ?? '', prompt };
  const result = textAt(input, ['result', 'summary', 'answer']);
  return result !== undefined && Object.keys(input).length <= 2
    ? { kind: 'finish', text: result }
    : undefined;
}

function ofLook(input: JsonObject): Action | undefined {
  const list = input['files'] ?? input['paths'];
  if (Array.isArray(list)) {
    const files = list.flatMap((each) => {
      const path = typeof each === 'string' ? each : isObject(each) ? textAt(each, PATHS) : undefined;
      return path === undefined ? [] : [{ path, from: undefined, to: undefined }];
    });
    if (files.length > 0) return { kind: 'look', files };
  }
  const path = textAt(input, PATHS);
  if (path === undefined || textAt(input, PATTERNS) !== undefined) return undefined;
  const from = numberAt(input, ['offset', 'start_line', 'startLine']) ?? rangeStart(input['view_range']);
  const limit = numberAt(input, ['limit']);
  const to =
    numberAt(input, ['end_line', 'endLine']) ?? (limit === undefined ? undefined : (from ?? 1) + limit - 1);
  return { kind: 'look', files: [{ path, from, to }] };
}

function rangeStart(range: unknown): number | undefined {
  const first: unknown = Array.isArray(range) ? range[0] : undefined;
  return typeof first === 'number' ? first : undefined;
}

function numberAt(input: JsonObject, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = input[key];
    const number = typeof value === 'string' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return undefined;
}

function ofSearch(input: JsonObject): Action | undefined {
  const what = textAt(input, PATTERNS);
  return what === undefined
    ? undefined
    : { kind: 'search', what, where: textAt(input, [...PATHS, 'glob', 'include']) };
}

/** Arguments of any call on one line: `key value, key value`. */
function shortArguments(input: JsonObject): string {
  const parts = Object.entries(input).map(([key, value]) => {
    const text = typeof value === 'string' ? value : jsonOf(value);
    return `${key} ${text}`;
  });
  return parts.join(', ').slice(0, LONGEST_ARGUMENTS);
}

/** The value as JSON, or `…` where it has none: a live program may hand in any value. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '…';
  }
}
