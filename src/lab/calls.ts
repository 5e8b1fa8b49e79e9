/** Tool calls of a recorded session: what they ran, which lines they quote, which files they change. */

import { fileAccess } from '../conversation/file-access.ts';
import { callArguments, type Message, type ToolCallBlock, textOf } from '../conversation/message.ts';
import { linkTools } from '../conversation/tool-links.ts';
import { argumentText } from './texts.ts';

/** A call with what came of it, in the order of the calls. */
export interface AnsweredCall {
  readonly call: ToolCallBlock;
  /** Text of the result. */
  readonly result: string;
  readonly isError: boolean;
}

/** Every call of these messages that has a result. */
export function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const { pairs } = linkTools(messages);
  const ordered = pairs.toSorted(
    (left, right) => left.call.message - right.call.message || left.call.block - right.call.block,
  );
  return ordered.flatMap((pair) => {
    const call = messages[pair.call.message]?.blocks[pair.call.block];
    const result = messages[pair.result.message]?.blocks[pair.result.block];
    if (call?.type !== 'tool-call' || result?.type !== 'tool-result') return [];
    return [{ call, result: textOf(result), isError: result.isError }];
  });
}

/** Names of arguments that hold a command line. */
const COMMAND_KEYS = ['command', 'cmd', 'script'] as const;

/** The command line that a call runs in a shell; undefined for a call that is none. */
export function shellCommandOf(call: ToolCallBlock): string | undefined {
  const input = callArguments(call);
  // An editor's `command` says what it does to a path.
  if (input === undefined || Object.hasOwn(input, 'path') || Object.hasOwn(input, 'file_path'))
    return undefined;
  for (const key of COMMAND_KEYS) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined;
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === 'string' && last !== '') return last;
  }
  return undefined;
}

/** What a call takes for the present text of a file, and what it puts there. */
export interface EditTexts {
  /** Lines that have to be in the file for the edit to work. */
  readonly oldLines: readonly string[];
  /** Those of them that a patch names only to find its place: they stay. */
  readonly contextLines: readonly string[];
  /** All other text of the call. */
  readonly newText: string;
}

/** Names of arguments that quote the present text. */
const OLD_KEYS: ReadonlySet<string> = new Set([
  'old_string',
  'oldString',
  'oldText',
  'old_text',
  'old_str',
  'search',
  'target_content',
  'TargetContent',
]);

/** Splits the arguments of a call into quoted lines and everything else. Patches and SEARCH blocks are read line by line. */
export function editTextsOf(call: ToolCallBlock): EditTexts {
  const oldLines: string[] = [];
  const contextLines: string[] = [];
  const written: string[] = [];
  const take = (value: unknown, key: string | undefined, depth: number): void => {
    if (typeof value === 'string') {
      if (key !== undefined && OLD_KEYS.has(key)) oldLines.push(...value.split('\n'));
      else if (isPatch(value)) splitPatch(value, { oldLines, contextLines, written });
      else written.push(value);
    } else if (typeof value === 'object' && value !== null && depth < MAXIMUM_DEPTH) {
      const isList = Array.isArray(value);
      for (const [name, inner] of Object.entries(value)) take(inner, isList ? key : name, depth + 1);
    }
  };
  take(callArguments(call) ?? call.input, undefined, 0);
  return { oldLines, contextLines, newText: written.join('\n') };
}

const MAXIMUM_DEPTH = 12;

function isPatch(text: string): boolean {
  return (
    text.includes('*** Begin Patch') ||
    text.includes('<<<<<<< SEARCH') ||
    (text.includes('\n@@') && text.includes('\n--- '))
  );
}

type Part = 'outside' | 'hunk' | 'search' | 'replace';

/** Signs at the beginning of a line that open or close a part of a patch. */
const MARKS: readonly (readonly [mark: string, part: Part])[] = [
  ['*** Update File:', 'hunk'],
  ['*** Add File:', 'hunk'],
  ['*** Delete File:', 'outside'],
  ['*** Move to:', 'hunk'],
  ['*** Begin Patch', 'outside'],
  ['*** End of File', 'hunk'],
  ['*** End Patch', 'outside'],
  ['@@', 'hunk'],
  ['--- ', 'outside'],
  ['+++ ', 'outside'],
  ['<<<<<<< SEARCH', 'search'],
  ['>>>>>>> REPLACE', 'outside'],
];

interface PatchParts {
  readonly oldLines: string[];
  readonly contextLines: string[];
  readonly written: string[];
}

function splitPatch(text: string, { oldLines, contextLines, written }: PatchParts): void {
  let part: Part = 'outside';
  for (const line of text.split('\n')) {
    const mark = MARKS.find(([sign]) => line.startsWith(sign));
    if (mark !== undefined) [, part] = mark;
    else if (part === 'search' && line.startsWith('=======')) part = 'replace';
    else if (part === 'search') oldLines.push(line);
    else if (part !== 'hunk') written.push(line);
    else if (line.startsWith('+')) written.push(line.slice(1));
    else {
      oldLines.push(line.slice(1));
      if (!line.startsWith('-')) contextLines.push(line.slice(1));
    }
  }
}

const PATCHED_FILE = /^\*\*\* (?:Update|Add) File: (.{1,300})$/gm;

/** Words in the result of an edit that was not made: most editors set no error flag. */
const NOT_WRITTEN = /^(?!.*(?:success|updated|created|edited|wrote)).*(?:error|cannot|must be|denied)/is;
const TOLD_CHARACTERS = 300;

/** The files that calls edit or write and that their results do not refuse, each by the last two parts of its path. */
export function changedFilesOf(messages: readonly Message[]): readonly string[] {
  const isRefused = ({ result, isError }: AnsweredCall) =>
    isError || NOT_WRITTEN.test(result.slice(0, TOLD_CHARACTERS));
  const refused = new Set(
    answeredCalls(messages)
      .filter(isRefused)
      .map(({ call }) => call),
  );
  const calls = messages.flatMap(({ blocks }) => blocks.filter((block) => block.type === 'tool-call'));
  const paths = calls.filter((call) => !refused.has(call)).flatMap(writtenPaths);
  return [...new Set(paths.map(lastTwoParts))].filter((file) => file !== '');
}

function writtenPaths(call: ToolCallBlock): readonly string[] {
  const access = fileAccess(call);
  if (access?.kind === 'write') return [access.path];
  const text = argumentText(call);
  if (!text.includes('*** Begin Patch')) return [];
  return [...text.matchAll(PATCHED_FILE)].map((match) => match[1]?.trim() ?? '');
}

/** A path by its last two parts, which say the same from every folder. */
export function lastTwoParts(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .slice(-2)
    .join('/');
}
