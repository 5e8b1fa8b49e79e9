import type { Edit } from '../core/edit.ts';
import type { MediaBlock, Message } from '../core/message.ts';
import { integer } from '../core/options.ts';
import { pinnedMessages } from '../core/pins.ts';
import { rememberFold } from '../core/prefix-memory.ts';
import { defineStrategy, finish } from '../core/strategy.ts';

interface FoundMedia {
  readonly block: MediaBlock;
  readonly message: number;
  readonly position: number;
  readonly inner: number | undefined;
}

/** Takes out the oldest pictures, documents and recordings beyond budgets of their own; tokens are not all there is. */
export const stripMedia = defineStrategy({
  name: 'strip-media',
  summary: 'take out old images and documents beyond their own limits',
  options: {
    maxImages: integer({ default: 20, help: 'newest images to keep' }),
    maxDocuments: integer({ default: 5, help: 'newest documents and recordings to keep' }),
    maxBytes: integer({ default: 20_000_000, help: 'bytes of media to keep, newest first' }),
  },

  create: ({ maxImages, maxDocuments, maxBytes }) => ({
    name: 'strip-media',
    async compact(conversation, context) {
      const pinned = pinnedMessages(conversation.messages, context.pins);
      const counts = { image: 0, other: 0, bytes: 0 };
      const edits: Edit[] = [];
      for (const { block, message, position, inner } of foldMedia(conversation.messages).toReversed()) {
        const isImage = block.media === 'image';
        if (isImage) counts.image++;
        else counts.other++;
        counts.bytes += block.data?.length ?? 0;
        const isBeyond = isImage ? counts.image > maxImages : counts.other > maxDocuments;
        if ((!isBeyond && counts.bytes <= maxBytes) || pinned.has(message)) continue;
        const text = `[${block.media} removed to save space]`;
        edits.push({
          type: 'strip',
          message,
          block: position,
          text,
          ...(inner === undefined ? {} : { inner }),
        });
      }
      return finish(conversation, edits.reverse(), context, {
        strategy: 'strip-media',
        reason: `took out ${edits.length} old media`,
      });
    },
  }),
});

const foldMedia = rememberFold<Message, FoundMedia[]>({
  start: () => [],
  add(found, { blocks }, message) {
    for (const [position, block] of blocks.entries()) {
      if (block.type === 'media') found.push({ block, message, position, inner: undefined });
      if (block.type !== 'tool-result') continue;
      for (const [inner, held] of block.content.entries()) {
        if (held.type === 'media') found.push({ block: held, message, position, inner });
      }
    }
  },
});
