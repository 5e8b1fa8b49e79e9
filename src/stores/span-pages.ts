import type { Message } from '../conversation/message.ts';
import { recogniseFormat } from '../formats/registry.ts';
import type { ArchivedSpan } from './store.ts';

/** The messages of a span as they came, or undefined when its body is no list. */
export function parseSpan({ body }: ArchivedSpan): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The messages of a span, to be read by pages. At least one. */
export function messagesOfSpan(span: ArchivedSpan): readonly Message[] {
  const values = parseSpan(span) ?? [];
  const format = recogniseFormat(values);
  if (format !== undefined && values.length > 0) return values.map((raw) => format.readMessage(raw));
  // Somebody else may have written the record: what it can be found by can at least be read.
  const text = { type: 'text', text: span.text, raw: undefined } as const;
  return [{ role: 'user', blocks: [text], responseId: undefined, usage: undefined, raw: undefined }];
}
