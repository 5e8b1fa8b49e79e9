import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asString } from '../../conversation/json.ts';
import { readBeginning } from './read.ts';
import type { ChatTool } from './tool.ts';
import { ToolRefusal } from './tool-refusal.ts';
import type { Workspace } from './workspace.ts';

const MOST_MATCHES = 40;
const MOST_FILES = 2000;
const LONGEST_LINE = 200;
/** Folders that hold what others have written. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist']);

/** Lines in which a text occurs. */
export const searchFiles: ChatTool = {
  name: 'search_files',
  summary: 'Finds the lines of files below the working directory that contain a text.',
  parameters: { text: 'text to look for, as it is', path: 'folder; the working directory when left out' },
  required: ['text'],
  async run(input, workspace) {
    const text = asString(input['text']) ?? '';
    if (text === '') throw new ToolRefusal('there is no text to look for');
    const folder = await workspace.find(asString(input['path']) ?? '.');
    const matches: string[] = [];
    for await (const file of filesBelow(folder)) {
      matches.push(...(await matchesIn(file, text, workspace)));
      if (matches.length >= MOST_MATCHES) break;
    }
    return matches.slice(0, MOST_MATCHES).join('\n') || 'no line contains that text';
  },
};

/** Real files alone: links may lead outside, or in a circle. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  const folders = [folder];
  let count = 0;
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
      if (!entry.isFile()) continue;
      if (++count > MOST_FILES) return;
      yield path;
    }
  }
}

async function matchesIn(path: string, text: string, workspace: Workspace): Promise<readonly string[]> {
  const content = await readBeginning(path).catch(() => '');
  return content
    .split('\n')
    .flatMap((line, index) =>
      line.includes(text)
        ? [`${workspace.nameOf(path)}:${index + 1}: ${line.trim().slice(0, LONGEST_LINE)}`]
        : [],
    );
}
