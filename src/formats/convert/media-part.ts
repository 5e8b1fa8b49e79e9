import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { MediaBlock } from '../../conversation/message.ts';
import type { MediaPart } from './turn.ts';

/** What can be carried over of a media block, from whatever format; undefined where only its provider has the bytes. */
export function mediaPartOf({ media, data, raw }: MediaBlock): MediaPart | undefined {
  const fields = fieldsOf(raw);
  if (data !== undefined && data !== '') {
    const mimeType = statedType(fields) ?? guessType(data);
    return mimeType === undefined ? undefined : { type: 'media', media, mimeType, data };
  }
  const url = addressesIn(fields).find((address) => /^https?:\/\//i.test(address.slice(0, 10)));
  return url === undefined ? undefined : { type: 'media', media, url };
}

/** A `data:` URL for formats that have no other place for bytes. */
export function urlOf(part: MediaPart): string {
  return part.url ?? `data:${part.mimeType};base64,${part.data}`;
}

/** Keys under which formats keep the facts of a file, one level down. */
const HOLDERS = ['source', 'image_url', 'input_audio', 'file', 'inlineData', 'inline_data'];

/** The block's own fields and those of what it holds them in. */
function fieldsOf(raw: unknown): readonly JsonObject[] {
  if (!isObject(raw)) return [];
  return [raw, ...HOLDERS.map((key) => raw[key]).filter(isObject)];
}

// Addresses of Gemini's own store (`fileUri`) are public to nobody else.
const ADDRESS_KEYS = ['url', 'image_url', 'file_url', 'file_data', 'image', 'data'];
const TYPE_KEYS = ['media_type', 'mimeType', 'mime_type', 'mediaType'];

function addressesIn(fields: readonly JsonObject[]): readonly string[] {
  return fields.flatMap((holder) => ADDRESS_KEYS.flatMap((key) => asString(holder[key]) ?? []));
}

function statedType(fields: readonly JsonObject[]): string | undefined {
  const types = fields.flatMap((holder) => TYPE_KEYS.flatMap((key) => asString(holder[key]) ?? []));
  const stated = types.find((type) => type.includes('/'));
  if (stated !== undefined) return stated;
  const inUrl = addressesIn(fields)
    .map((address) => /^data:([a-z]+\/[\w.+-]{1,80})/i.exec(address.slice(0, 120))?.[1])
    .find((type) => type !== undefined);
  return inUrl ?? fields.flatMap((holder) => AUDIO_TYPES.get(asString(holder['format']) ?? '') ?? [])[0];
}

const AUDIO_TYPES: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
]);

/** First characters of files in base64. */
const BEGINNINGS: readonly (readonly [beginning: string, mimeType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
];

function guessType(data: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1];
}
