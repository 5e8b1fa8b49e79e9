import type { Message } from '../../conversation/message.ts';
import type { Edit } from './edit.ts';

/** Edits that take out reasoning behind the first change: it was signed for another prefix, and would be refused. */
export function stripBoundReasoning(messages: readonly Message[], edits: readonly Edit[]): readonly Edit[] {
  const leaves = new Uint8Array(messages.length);
  let first = messages.length;
  for (const edit of edits) {
    if (edit.type === 'drop' || edit.type === 'summarize') leaves.fill(1, edit.start, edit.end);
    first = Math.min(first, startOf(edit));
  }
  const strips: Edit[] = [];
  for (let index = first; index < messages.length; index++) {
    if (leaves[index] === 1) continue;
    for (const [block, { type }] of (messages[index]?.blocks ?? []).entries()) {
      if (type === 'reasoning') strips.push({ type: 'strip', message: index, block });
    }
  }
  return strips;
}

function startOf(edit: Edit): number {
  if (edit.type === 'drop' || edit.type === 'summarize') return edit.start;
  return edit.type === 'insert' ? edit.before : edit.message;
}
