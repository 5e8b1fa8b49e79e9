import { readdir } from 'node:fs/promises';
import { asString } from '../../conversation/json.ts';
import type { ChatTool } from './tool.ts';
import { ToolRefusal } from './tool-refusal.ts';

const MOST_ENTRIES = 200;

/** What is in a folder. */
export const listFiles: ChatTool = {
  name: 'list_files',
  summary: 'Lists a folder below the working directory.',
  parameters: { path: 'folder; the working directory when left out' },
  required: [],
  async run(input, workspace) {
    const folder = await workspace.find(asString(input['path']) ?? '.');
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) throw new ToolRefusal('that is no folder that can be listed');
    const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
    const rest = names.length - MOST_ENTRIES;
    const more = rest > 0 ? [`… and ${rest} more`] : [];
    return [...names.slice(0, MOST_ENTRIES), ...more].join('\n') || '(empty)';
  },
};
