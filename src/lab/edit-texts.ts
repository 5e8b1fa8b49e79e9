import { callArguments, type ToolCallBlock } from '../conversation/message.ts';

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
