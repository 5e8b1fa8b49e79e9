import { existsSync, readFileSync } from 'node:fs';

/** The messages of a saved chat, as they stand in its file. */
export function savedMessages(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{"type":"roundfold-'));
}
