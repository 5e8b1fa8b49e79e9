import { fileAccess } from '../conversation/file-access.ts';
import type { Message, ToolCallBlock } from '../conversation/message.ts';
import { argumentText } from './message-texts.ts';

const PATCHED_FILE = /^\*\*\* (?:Update|Add) File: (.{1,300})$/gm;

/** The files that calls edit or write, each by the last two parts of its path. */
export function changedFilesOf(messages: readonly Message[]): readonly string[] {
  const files = new Set<string>();
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type !== 'tool-call') continue;
      for (const path of writtenPaths(block)) files.add(lastTwoParts(path));
    }
  }
  return [...files].filter((file) => file !== '');
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
