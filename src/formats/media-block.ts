import type { MediaBlock } from '../conversation/message.ts';

/** What is known of a picture, a document or a recording besides that it is there. */
interface MediaFacts {
  readonly data?: string | undefined;
  readonly text?: string | undefined;
  readonly detail?: string | undefined;
}

/** A media block; what is not known of it is undefined. */
export function mediaBlock(media: MediaBlock['media'], raw: unknown, facts: MediaFacts = {}): MediaBlock {
  return { type: 'media', media, data: facts.data, text: facts.text, detail: facts.detail, raw };
}
