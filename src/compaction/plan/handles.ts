import type { Message } from '../../conversation/message.ts';
import type { Edit } from './edit.ts';

/** Names messages of the conversation that is compacted. */
export interface HandleFor {
  (messages: readonly Message[]): string;
  /** A message as it is kept under its name: as it was before something made it smaller. Default: as it is. */
  readonly originalOf?: ((message: Message) => Message) | undefined;
}

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
  // A name is made from all of a message, and hundreds of edits may change the same one.
  const handles = new Map<Message, string>();
  return edits.map((edit) => {
    const changed = edit.type === 'rewrite' ? messages[edit.message] : undefined;
    if (edit.type !== 'rewrite' || changed === undefined) return edit;
    const handle = handles.get(changed) ?? handleFor([changed]);
    handles.set(changed, handle);
    return { ...edit, text: `${edit.text} ${handle}` };
  });
}
