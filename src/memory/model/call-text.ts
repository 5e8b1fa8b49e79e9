import { fileAccess } from '../../conversation/file-access.ts';
import { callArguments, type ToolCallBlock } from '../../conversation/message.ts';

/** The input of a call as one text: a string as it is, everything else as JSON. Never throws. */
export function inputText({ input }: ToolCallBlock): string {
  if (typeof input === 'string') return input;
  try {
    return JSON.stringify(input) ?? '';
  } catch {
    // Cycles and very deep values do not come from a wire, but a caller can build them.
    return String(input);
  }
}

const COMMAND_KEYS = ['command', 'cmd', 'script'];
const TARGET_KEYS = ['file_path', 'path', 'filePath', 'filename', 'file', 'url', 'query', 'pattern', 'name'];

/** What a call is about: its file, its command, or the first argument that tells. Empty when nothing does. */
export function callTarget(call: ToolCallBlock): string {
  const file = fileAccess(call)?.path;
  if (file !== undefined) return file;
  const values = callArguments(call);
  if (values === undefined) return inputText(call);
  const told = [...COMMAND_KEYS, ...TARGET_KEYS]
    .filter((key) => Object.hasOwn(values, key))
    .map((key) => targetText(values[key]));
  return told.find((text) => text !== '') ?? inputText(call);
}

function targetText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string').join(' ') : '';
}
