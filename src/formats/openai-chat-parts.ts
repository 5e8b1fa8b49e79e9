import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, MediaBlock } from '../conversation/message.ts';
import { dataOfUrl } from './data-url.ts';
import { mediaBlock } from './media-block.ts';

/** Content of a chat message: a string, a list of parts, or nothing. */
export function readContent(content: unknown): Block[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, raw: content }];
  return asList(content).map(readChatPart);
}

/** The view of one content part. */
export function readChatPart(raw: unknown): Block {
  if (typeof raw === 'string') return { type: 'text', text: raw, raw };
  if (!isObject(raw)) return { type: 'other', wireType: undefined, raw };
  const type = asString(raw['type']);
  const text = type === 'refusal' ? raw['refusal'] : raw['text'];
  if ((type === 'text' || type === 'refusal') && typeof text === 'string') return { type: 'text', text, raw };
  return readMedia(type, raw) ?? { type: 'other', wireType: type, raw };
}

/** Blocks as a list of parts. Text that was plain string content becomes a text part. */
export function toParts(blocks: readonly Block[]): readonly unknown[] {
  return blocks.map((block) =>
    typeof block.raw === 'string' ? { type: 'text', text: block.raw } : block.raw,
  );
}

function readMedia(type: string | undefined, raw: JsonObject): MediaBlock | undefined {
  if (type === 'image_url') {
    const image: JsonObject = isObject(raw['image_url']) ? raw['image_url'] : { url: raw['image_url'] };
    return mediaBlock('image', raw, {
      data: dataOfUrl(asString(image['url'])),
      detail: asString(image['detail']),
    });
  }
  if (type === 'input_audio' && isObject(raw['input_audio'])) {
    return mediaBlock('audio', raw, { data: asString(raw['input_audio']['data']) });
  }
  if (type === 'file' && isObject(raw['file'])) {
    const data = asString(raw['file']['file_data']);
    return mediaBlock('document', raw, { data: dataOfUrl(data) ?? data });
  }
  return undefined;
}
