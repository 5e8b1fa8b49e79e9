import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { MediaBlock } from '../conversation/message.ts';
import { dataOfUrl } from './data-url.ts';

const KINDS: ReadonlyMap<string, MediaBlock['media']> = new Map([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
]);

/** What a media type (`image/png`) or its first half alone (`image`) stands for; everything else is a document. */
export function mediaOfType(mediaType: string): MediaBlock['media'] {
  const slash = mediaType.indexOf('/');
  return KINDS.get(slash === -1 ? mediaType : mediaType.slice(0, slash)) ?? 'document';
}

/**
 * The base64 data of a file, where its bytes are at hand: as base64, as a `data:` URL or as an array of bytes.
 * Undefined for links, for references to uploaded files and for everything unknown.
 */
export function base64Of(source: unknown): string | undefined {
  if (typeof source === 'string') return isUrl(source) ? dataOfUrl(source) : source;
  if (source instanceof URL) return dataOfUrl(source.href);
  if (source instanceof Uint8Array) return toBase64(source);
  if (source instanceof ArrayBuffer) return toBase64(new Uint8Array(source));
  return undefined;
}

/**
 * The view of a file part of the AI SDK.
 * @param source the file itself: bare (string, URL, bytes, reference) or tagged `{type: 'data' | 'url' | 'text' | …}`
 */
export function readFile(raw: JsonObject, source: unknown, media: MediaBlock['media']): MediaBlock {
  const tagged = isObject(source) ? source : {};
  const text = tagged['type'] === 'text' ? asString(tagged['text']) : undefined;
  const data = base64Of(tagged['data'] ?? tagged['url'] ?? source);
  return { type: 'media', media, data, text, detail: undefined, raw };
}

/** A colon never occurs in base64; the scheme of a URL is short. */
function isUrl(source: string): boolean {
  return source.slice(0, 32).includes(':');
}

const CHUNK_BYTES = 8192;

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  }
  return btoa(binary);
}
