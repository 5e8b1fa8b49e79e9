import { callArguments, type ToolCallBlock } from './message.ts';

/** What a tool call does with one file. */
export interface FileAccess {
  readonly kind: 'read' | 'write';
  readonly path: string;
  /** The part that was asked for, as written in the call; undefined for the whole file. */
  readonly range: string | undefined;
}

/** Tool names as agents use them, without case and punctuation. */
const READERS = words(
  'read readfile readtextfile readmanyfiles fileread view viewfile openfile open cat getfilecontents',
);
const WRITERS = words(
  'write writefile writetofile filewrite createfile edit editfile multiedit notebookedit replace replaceinfile',
  'strreplace searchreplace insert applydiff fileedit',
);
const EDITORS = words('strreplaceeditor strreplacebasededittool texteditor editor');
const SHELLS = words(
  'bash shell sh exec execcommand runcommand runshellcommand executebash executecommand localshell terminal',
);
/** Arguments that tell a path, the likeliest first. */
const PATHS = words('file_path path filePath filename file absolute_path target_file notebook_path');
/** Arguments that tell a part of a file. */
const RANGES = words('offset limit view_range start_line end_line startLine endLine line_range pages');

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

/** The file a call reads or writes, or undefined when it does neither (or it cannot be told). */
export function fileAccess(call: ToolCallBlock): FileAccess | undefined {
  const name = plainName(call.name);
  const input = callArguments(call);
  if (input === undefined) return undefined;
  if (SHELLS.has(name)) return accessOfCommand(commandOf(input));

  const kind = kindOf(name, input['command']);
  if (kind === undefined) return undefined;
  const path = [...PATHS].map((key) => input[key]).find((value) => typeof value === 'string' && value !== '');
  return typeof path === 'string' ? { kind, path, range: rangeIn(input) } : undefined;
}

/** A name without its server, case and punctuation. */
function plainName(name: string): string {
  const own = name.slice(name.lastIndexOf('__') + 1);
  return own.toLowerCase().replaceAll(/[^a-z]/g, '');
}

function rangeIn(input: Readonly<Record<string, unknown>>): string | undefined {
  const told = [...RANGES].filter((key) => input[key] !== undefined && input[key] !== null);
  if (told.length === 0) return undefined;
  return told.map((key) => `${key}=${JSON.stringify(input[key])}`).join(' ');
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
