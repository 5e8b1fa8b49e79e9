import { open, stat } from 'node:fs/promises';
import { asString } from '../../conversation/json.ts';
import type { ChatTool } from './tool.ts';
import { ToolRefusal } from './tool-refusal.ts';

const MOST_BYTES = 64 * 1024;

/** The text of a file, or its beginning. */
export const readTextFile: ChatTool = {
  name: 'read_file',
  summary: 'Reads a text file below the working directory.',
  parameters: { path: 'file' },
  required: ['path'],
  async run(input, workspace) {
    const path = await workspace.find(asString(input['path']) ?? '');
    return readBeginning(path);
  },
};

/**
 * The beginning of a text file.
 * @throws ToolRefusal when it is no text file, or cannot be read
 */
export async function readBeginning(path: string): Promise<string> {
  const found = await stat(path);
  // A pipe or a device would never end.
  if (!found.isFile()) throw new ToolRefusal('that is no file');
  const file = await open(path).catch(() => undefined);
  if (file === undefined) throw new ToolRefusal('that file cannot be read');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.includes(0)) throw new ToolRefusal('that is no text file');
    const text = new TextDecoder().decode(bytes, { stream: true });
    return found.size > bytesRead ? `${text}\n… (${found.size - bytesRead} more bytes)` : text || '(empty)';
  } finally {
    await file.close();
  }
}
