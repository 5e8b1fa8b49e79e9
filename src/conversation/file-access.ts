import { callArguments, type ToolCallBlock } from './message.ts';

/** What a tool call does with one file. */
export interface FileAccess {
  readonly kind: 'read' | 'write';
  readonly path: string;
  /** The part that was asked for, as written in the call; undefined for the whole file. */
  readonly range: string | undefined;
}

/** Tool names as agents use them, without case and punctuation. */
const READERS = new Set([
  'read',
  'readfile',
  'readtextfile',
  'readmanyfiles',
  'fileread',
  'view',
  'viewfile',
  'openfile',
  'open',
  'cat',
  'getfilecontents',
]);
const WRITERS = new Set([
  'write',
  'writefile',
  'writetofile',
  'filewrite',
  'createfile',
  'edit',
  'editfile',
  'multiedit',
  'notebookedit',
  'replace',
  'replaceinfile',
  'strreplace',
  'searchreplace',
  'insert',
  'applydiff',
  'fileedit',
]);
const EDITORS = new Set(['strreplaceeditor', 'strreplacebasededittool', 'texteditor', 'editor']);
const SHELLS = new Set([
  'bash',
  'shell',
  'sh',
  'exec',
  'execcommand',
  'runcommand',
  'runshellcommand',
  'executebash',
  'executecommand',
  'localshell',
  'terminal',
]);

const PATH_RANKS = ranksOf([
  'file_path',
  'path',
  'filePath',
  'filename',
  'file',
  'absolute_path',
  'target_file',
  'notebook_path',
]);
const RANGE_RANKS = ranksOf([
  'offset',
  'limit',
  'view_range',
  'start_line',
  'end_line',
  'startLine',
  'endLine',
  'line_range',
  'pages',
]);

function ranksOf(keys: readonly string[]): ReadonlyMap<string, number> {
  return new Map(keys.map((key, rank) => [key, rank]));
}

/** The file a call reads or writes, or undefined when it does neither (or it cannot be told). */
export function fileAccess(call: ToolCallBlock): FileAccess | undefined {
  const name = plainName(call.name);
  const input = callArguments(call);
  if (input === undefined) return undefined;
  if (SHELLS.has(name)) return accessOfCommand(commandOf(input));

  const kind = kindOf(name, input['command']);
  if (kind === undefined) return undefined;
  const { path, range } = placeIn(input);
  return path === undefined ? undefined : { kind, path, range };
}

/** Thousands of calls share a few names; made-up ones do not fill the memory. */
const plainNames = new Map<string, string>();

/** A name without its server, case and punctuation. */
function plainName(name: string): string {
  const known = plainNames.get(name);
  if (known !== undefined) return known;
  const own = name.slice(name.lastIndexOf('__') + 1);
  const plain = own.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (plainNames.size < 1000) plainNames.set(name, plain);
  return plain;
}

/** The first of the keys that tell a path, and all that tell a part, in the order of their lists. */
function placeIn(input: Readonly<Record<string, unknown>>): {
  readonly path: string | undefined;
  readonly range: string | undefined;
} {
  let path: string | undefined;
  let pathRank = Number.POSITIVE_INFINITY;
  let parts: { readonly rank: number; readonly text: string }[] | undefined;
  for (const key of Object.keys(input)) {
    const value = input[key];
    const rank = PATH_RANKS.get(key);
    if (rank !== undefined && rank < pathRank && typeof value === 'string' && value !== '') {
      path = value;
      pathRank = rank;
    }
    const rangeRank = RANGE_RANKS.get(key);
    if (rangeRank === undefined || value === undefined || value === null) continue;
    parts = [...(parts ?? []), { rank: rangeRank, text: `${key}=${JSON.stringify(value)}` }];
  }
  const sorted = parts?.toSorted((left, right) => left.rank - right.rank);
  return { path, range: sorted?.map(({ text }) => text).join(' ') };
}

function kindOf(name: string, command: unknown): FileAccess['kind'] | undefined {
  if (EDITORS.has(name)) return command === 'view' ? 'read' : 'write';
  if (READERS.has(name)) return 'read';
  return WRITERS.has(name) ? 'write' : undefined;
}

/** The text of a shell command: a string, or the last word of `["bash", "-lc", "…"]`. */
function commandOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const command = input['command'] ?? input['cmd'] ?? input['script'];
  if (typeof command === 'string') return command;
  const last: unknown = Array.isArray(command) ? command.at(-1) : undefined;
  return typeof last === 'string' ? last : undefined;
}

/** A command is looked at up to this length; one that prints a single file is shorter. */
const COMMAND_CHARACTERS = 300;
const PRINTS_FILE =
  /^(?:cat|nl -ba|head(?: -n? ?\d{1,7})?|tail(?: -n? ?\d{1,7})?|sed -n ['"]?([\d,$]{1,20})p['"]?) ([^\s|&;<>'"]{1,200})$/;

/** Commands that do nothing but print one file: `cat f`, `head -n 50 f`, `sed -n '1,200p' f`. */
function accessOfCommand(command: string | undefined): FileAccess | undefined {
  if (command === undefined || command.length > COMMAND_CHARACTERS) return undefined;
  const match = PRINTS_FILE.exec(command.trim());
  const path = match?.[2];
  if (match === null || path === undefined || path.startsWith('-')) return undefined;
  const isWhole = command.trim().startsWith('cat ');
  return {
    kind: 'read',
    path,
    range: isWhole ? undefined : (match[1] ?? command.trim().split(' ').slice(0, -1).join(' ')),
  };
}
