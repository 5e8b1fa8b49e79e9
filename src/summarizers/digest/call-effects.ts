import { fileAccess } from '../../core/file-access.ts';
import { callArguments, type ToolCallBlock } from '../../core/message.ts';
import { flattenValue } from './flatten.ts';

/** What kind of work a tool does, as far as its call tells. */
export type ToolKind = 'read' | 'write' | 'shell' | 'search' | 'plan' | 'other';

/** One change to a file, as its call states it. */
export interface FileChange {
  readonly path: string;
  readonly removed: readonly string[];
  /** What stands there afterwards, context lines of a patch included. */
  readonly written: readonly string[];
}

/** A call, taken apart. */
export interface CallEffects {
  readonly kind: ToolKind;
  /** The file it reads or writes, where there is exactly one. */
  readonly path: string | undefined;
  /** The call in one line. */
  readonly title: string;
  /** Its arguments beyond the title, line by line. */
  readonly lines: readonly string[];
  readonly changes: readonly FileChange[];
}

const OLD_KEYS = [
  'old_string',
  'oldString',
  'oldText',
  'old_text',
  'old_str',
  'search',
  'find',
  'target_content',
];
const NEW_KEYS = [
  'new_string',
  'newString',
  'newText',
  'new_text',
  'new_str',
  'replace',
  'replacement',
  'content',
  'contents',
  'file_text',
  'code_edit',
  'insert_text',
];
const COMMAND_KEYS = ['command', 'cmd', 'script', 'code'];
const SEARCHES = /grep|search|glob|find|list|^ls$/i;
const PLANS = /todo|plan|task_?(?:list|create|update|track)/i;
/** A longer one costs more than it tells: the whole command competes for its place like any other line. */
const LONGEST_TITLE = 45;

/** Takes a call apart: its title, its arguments, the file it is about and what it changes there. Never throws. */
export function effectsOf(call: ToolCallBlock): CallEffects {
  const values = callArguments(call);
  if (values === undefined) return effectsOfText(call.name, typeof call.input === 'string' ? call.input : '');
  const access = fileAccess(call);
  if (access?.kind === 'write') return effectsOfWrite(call.name, access.path, values);
  const command = commandOf(values);
  if (command?.includes('*** Begin Patch')) return effectsOfText(call.name, command);
  if (command !== undefined) {
    const [title, lines] = titleAndLines(call.name, command.split('\n'));
    return { kind: access === undefined ? 'shell' : 'read', path: access?.path, title, lines, changes: [] };
  }
  const [title, lines] = titleAndLines(call.name, flattenValue(values));
  return { kind: kindOf(call.name, access !== undefined), path: access?.path, title, lines, changes: [] };
}

function kindOf(name: string, isRead: boolean): ToolKind {
  if (isRead) return 'read';
  if (PLANS.test(name)) return 'plan';
  return SEARCHES.test(name) ? 'search' : 'other';
}

function commandOf(values: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of COMMAND_KEYS) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (typeof value === 'string') return value;
    const last: unknown = Array.isArray(value) ? value.at(-1) : undefined;
    if (typeof last === 'string') return last;
  }
  return undefined;
}

/** The first line goes into the title, as far as there is room. */
function titleAndLines(name: string, lines: readonly string[]): readonly [string, readonly string[]] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const head = (lines[first] ?? '').trim();
  const isWhole = head.length <= LONGEST_TITLE;
  const title = `${name}: ${isWhole ? head : `${wholeWords(head.slice(0, LONGEST_TITLE - 15))}…`}`;
  return [title.trimEnd(), lines.slice(isWhole ? first + 1 : first)];
}

/** Without a last word that was cut, unless it is most of the text: half a path says nothing. */
function wholeWords(text: string): string {
  const end = text.lastIndexOf(' ');
  return end < text.length / 3 ? text : text.slice(0, end);
}

function effectsOfWrite(name: string, path: string, values: Readonly<Record<string, unknown>>): CallEffects {
  const pieces = [values, ...listOf(values['edits'])];
  const changes: FileChange[] = [];
  for (const piece of pieces) {
    const removed = textAt(piece, OLD_KEYS);
    const written = textAt(piece, NEW_KEYS);
    if (removed === undefined && written === undefined) continue;
    changes.push({ path, removed: removed?.split('\n') ?? [], written: written?.split('\n') ?? [] });
  }
  return { kind: 'write', path, title: `${name}: ${path}`, lines: [], changes };
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  // Objects of a parsed JSON list; their keys are only asked for.
  return value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null);
}

function textAt(values: Readonly<Record<string, unknown>>, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** A call whose input is free text: a patch, or anything else. */
function effectsOfText(name: string, text: string): CallEffects {
  const changes = text.includes('*** Begin Patch') ? readPatch(text) : [];
  if (changes.length === 0) {
    const [title, lines] = titleAndLines(name, text.split('\n'));
    return { kind: 'other', path: undefined, title, lines, changes };
  }
  const paths = changes.map(({ path }) => path);
  return {
    kind: 'write',
    path: paths.length === 1 ? paths[0] : undefined,
    title: `${name}: ${paths.join(' ')}`,
    lines: [],
    changes,
  };
}

const PATCHED = /^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$/;

function readPatch(text: string): readonly FileChange[] {
  const changes: { path: string; removed: string[]; written: string[] }[] = [];
  for (const line of text.split('\n')) {
    const path = line.startsWith('***') ? PATCHED.exec(line.trimEnd())?.[1] : undefined;
    if (path !== undefined) changes.push({ path, removed: [], written: [] });
    const current = changes.at(-1);
    if (current === undefined || line.startsWith('***') || line.startsWith('@@')) continue;
    if (line.startsWith('-')) current.removed.push(line.slice(1));
    else current.written.push(line.slice(1));
  }
  return changes;
}
