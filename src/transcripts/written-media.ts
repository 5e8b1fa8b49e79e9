import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { MediaBlock } from '../conversation/message.ts';

/** The bytes of an image in base64 with their type; undefined for what is no image, or only an address of one. */
export function inlineImage(
  block: MediaBlock,
): { readonly data: string; readonly mimeType: string } | undefined {
  const mimeType = block.media === 'image' ? mediaTypeOf(block) : undefined;
  return block.data === undefined || mimeType === undefined ? undefined : { data: block.data, mimeType };
}

/** The media type that a block states, in whichever format it stands. */
export function mediaTypeOf({ raw }: MediaBlock): string | undefined {
  const block: JsonObject = isObject(raw) ? raw : {};
  const source: JsonObject = isObject(block['source']) ? block['source'] : {};
  const url = asString(block['image_url']) ?? asString(block['file_data']) ?? '';
  return (
    asString(source['media_type']) ?? /^data:([\w.+-]{1,60}\/[\w.+-]{1,60})[;,]/.exec(url.slice(0, 160))?.[1]
  );
}
