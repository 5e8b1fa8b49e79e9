import { currentTurnStart } from '../../conversation/cuts.ts';
import { integer } from '../../conversation/options.ts';
import { pinnedMessages } from '../plan/pins.ts';
import type { Edit } from '../plan/plan.ts';
import { defineStrategy, finish } from '../plan/strategy.ts';
import { surveyOf } from '../plan/survey.ts';

/** Takes out the oldest images and documents beyond limits of their own. */
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
      const current = currentTurnStart(conversation.messages);
      const counts = { image: 0, other: 0, bytes: 0 };
      const edits: Edit[] = [];
      for (const { block, message, position, inner } of surveyOf(conversation.messages).media.toReversed()) {
        const isImage = block.media === 'image';
        if (isImage) counts.image++;
        else counts.other++;
        counts.bytes += block.data?.length ?? 0;
        const isBeyond = isImage ? counts.image > maxImages : counts.other > maxDocuments;
        if ((!isBeyond && counts.bytes <= maxBytes) || pinned.has(message) || message >= current) continue;
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
