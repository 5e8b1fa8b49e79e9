import type { Message } from '../core/message.ts';

/**
 * Remembers the view of each raw message, so that the next turn of a conversation reads only what is new and sizes
 * remembered per view stay valid. Views vanish with their raw values.
 */
export function rememberViews(read: (raw: unknown) => Message): (raw: unknown) => Message {
  const views = new WeakMap<object, Message>();
  return (raw) => {
    if (typeof raw !== 'object' || raw === null) return read(raw);
    const known = views.get(raw);
    if (known !== undefined) return known;
    const view = read(raw);
    views.set(raw, view);
    return view;
  };
}
