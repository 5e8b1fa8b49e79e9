import { type Block, type Message, textOf } from '../../core/message.ts';
import type { ArchivedSpan } from '../../core/store.ts';
import { recogniseFormat } from '../../formats/registry.ts';

/** The messages of a span, or undefined when its body is no list. */
export function parseMessages(body: Uint8Array): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A span to be read: each message under a line with its number and role. */
export function spanText(span: ArchivedSpan): string {
  const messages = parseMessages(span.body) ?? [];
  const format = recogniseFormat(messages);
  if (format === undefined || messages.length === 0) return `${span.text}\n`;
  // One message can have left by itself from between others, so that places are known of whole stretches only.
  const isWhole = span.end - span.start === messages.length;
  return messages
    .map((raw, index) => {
      const message = format.readMessage(raw);
      const number = isWhole ? ` ${span.start + index + 1}` : '';
      return `--- message${number}: ${message.role}\n${messageText(message)}\n`;
    })
    .join('\n');
}

function messageText({ blocks }: Message): string {
  return blocks.map(blockText).join('\n');
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'tool-call':
      return `[calls ${block.name}] ${JSON.stringify(block.input) ?? ''}`;
    case 'tool-result':
      return `[result] ${textOf(block)}`;
    case 'media':
      return `[media] ${textOf(block)}`.trimEnd();
    case 'other':
      return '[something that is no text]';
    default:
      return textOf(block);
  }
}
