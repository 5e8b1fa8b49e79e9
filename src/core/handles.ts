import type { Edit } from './edit.ts';
import type { Message } from './message.ts';
import type { HandleFor } from './strategy.ts';

/**
 * The same edits, with the name of what they change behind the text they leave, so that it can be read again. The very same
 * where nothing is kept.
 */
export function withHandles(
  edits: readonly Edit[],
  messages: readonly Message[],
  handleFor: HandleFor | undefined,
): readonly Edit[] {
  if (handleFor === undefined) return edits;
  return edits.map((edit) => {
    const changed = edit.type === 'rewrite' ? messages[edit.message] : undefined;
    if (edit.type !== 'rewrite' || changed === undefined) return edit;
    return { ...edit, text: `${edit.text} ${handleFor([changed])}` };
  });
}
