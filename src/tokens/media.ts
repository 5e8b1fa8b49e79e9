import type { MediaBlock } from '../conversation/message.ts';

/** How one family of models counts pictures, pages and sound. Figures are those the vendors publish. */
export interface MediaRules {
  image(size: ImageSize, detail: string | undefined): number;
  /** A picture whose size cannot be known (a link, a file id). */
  readonly unknownImageTokens: number;
  readonly pdfPageTokens: number;
  readonly audioTokensPerSecond: number;
  readonly videoTokensPerSecond: number;
}

/** Tokens of a media block. Text documents have text, which is counted as such by the caller. */
export function countMedia(block: MediaBlock, rules: MediaRules): number {
  switch (block.media) {
    case 'image': {
      const size = block.data === undefined ? undefined : imageSize(block.data);
      return size === undefined ? rules.unknownImageTokens : rules.image(size, block.detail);
    }
    case 'document':
      return countPdfPages(block.data) * rules.pdfPageTokens;
    case 'audio':
      return secondsOf(block.data, AUDIO_BYTES_PER_SECOND) * rules.audioTokensPerSecond;
    case 'video':
      return secondsOf(block.data, VIDEO_BYTES_PER_SECOND) * rules.videoTokensPerSecond;
  }
}

// Bit rates of usual compressed sound and pictures; nothing better is known without decoding them.
const AUDIO_BYTES_PER_SECOND = 16_000;
const VIDEO_BYTES_PER_SECOND = 250_000;
const BYTES_PER_COMPRESSED_PAGE = 40_000;

function secondsOf(base64: string | undefined, bytesPerSecond: number): number {
  return base64 === undefined ? 1 : Math.max(1, (base64.length * 0.75) / bytesPerSecond);
}

/** Page objects of a PDF. Where they are packed into compressed streams the size of the file has to tell. */
export function countPdfPages(base64: string | undefined): number {
  if (base64 === undefined) return 1;
  const bySize = Math.max(1, Math.round((base64.length * 0.75) / BYTES_PER_COMPRESSED_PAGE));
  const text = decode(base64);
  const pages = text === undefined ? 0 : text.split(/\/Type ?\/Page(?![a-zA-Z])/).length - 1;
  return pages > 0 ? pages : bySize;
}

function decode(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}

/** Claude: 28-pixel patches after the picture is fitted into `edge` pixels and `cap` tokens. */
export function claudeImages(edge: number, cap: number): MediaRules['image'] {
  return (size) => {
    let scale = Math.min(1, edge / Math.max(size.width, size.height));
    const patches = () => Math.ceil((size.width * scale) / 28) * Math.ceil((size.height * scale) / 28);
    // Rounding up to whole patches can leave it just above the cap: shrink until it fits, as the vendor does.
    while (patches() > cap) scale *= Math.min(0.999, Math.sqrt(cap / patches()));
    return patches();
  };
}

/** OpenAI, tile models: fitted into 2048, short side 768, a price per 512-pixel tile on top of a base. */
export function openaiTiles(base: number, perTile: number): MediaRules['image'] {
  return (size, detail) => {
    if (detail === 'low') return base;
    const fit = Math.min(1, 2048 / Math.max(size.width, size.height));
    const short = Math.min(1, 768 / (Math.min(size.width, size.height) * fit));
    const tiles = Math.ceil((size.width * fit * short) / 512) * Math.ceil((size.height * fit * short) / 512);
    return base + perTile * tiles;
  };
}

/** OpenAI, patch models: 32-pixel patches, at most 1,536, times a factor of the model. */
export function openaiPatches(factor: number): MediaRules['image'] {
  return (size) =>
    Math.ceil(Math.min(1536, Math.ceil(size.width / 32) * Math.ceil(size.height / 32)) * factor);
}

/** Gemini 2: one unit for small pictures, else one per 768-pixel tile. */
export function geminiTiles(): MediaRules['image'] {
  return ({ width, height }) =>
    width <= 384 && height <= 384 ? 258 : 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
}

const GEMINI_RESOLUTIONS: ReadonlyMap<string, number> = new Map([
  ['MEDIA_RESOLUTION_LOW', 280],
  ['MEDIA_RESOLUTION_MEDIUM', 560],
  ['MEDIA_RESOLUTION_HIGH', 1120],
  ['MEDIA_RESOLUTION_ULTRA_HIGH', 2240],
]);

/** Gemini 3: a fixed number by the resolution that was asked for. */
export function geminiResolutions(): MediaRules['image'] {
  return (_size, detail) => GEMINI_RESOLUTIONS.get(detail ?? '') ?? 1120;
}

/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** A JPEG keeps its size behind its metadata; that much of it is looked at. */
const HEADER_BYTES = 256 * 1024;

/** The size of a base64 PNG, JPEG, GIF or WebP, read from its header; undefined for what it cannot read. */
export function imageSize(base64: string): ImageSize | undefined {
  const start = decodeHead(base64, 32);
  if (start === undefined) return undefined;
  if (startsWith(start, [0x89, 0x50, 0x4e, 0x47])) return valid(big32(start, 16), big32(start, 20));
  if (startsWith(start, [0x47, 0x49, 0x46])) return valid(little16(start, 6), little16(start, 8));
  if (startsWith(start, [0x52, 0x49, 0x46, 0x46])) return webpSize(start);
  if (startsWith(start, [0xff, 0xd8])) return jpegSize(decodeHead(base64, HEADER_BYTES) ?? start);
  return undefined;
}

function decodeHead(base64: string, bytes: number): Uint8Array | undefined {
  const length = Math.min(base64.length, Math.ceil(bytes / 3) * 4);
  try {
    return Uint8Array.from(atob(base64.slice(0, length - (length % 4))), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Walks from marker to marker to the frame header (SOF), which holds the size. */
function jpegSize(bytes: Uint8Array): ImageSize | undefined {
  let offset = 2;
  while (offset + 9 < bytes.length && bytes[offset] === 0xff) {
    const marker = bytes[offset + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return valid(big16(bytes, offset + 7), big16(bytes, offset + 5));
    offset += 2 + Math.max(2, big16(bytes, offset + 2));
  }
  return undefined;
}

/** The three kinds of WebP: lossy, lossless and extended, told apart by the fourth letter of their chunk. */
function webpSize(bytes: Uint8Array): ImageSize | undefined {
  switch (bytes[15]) {
    case 0x20:
      return valid(little16(bytes, 26) & 0x3fff, little16(bytes, 28) & 0x3fff);
    case 0x4c: {
      const bits = little16(bytes, 21) | (little16(bytes, 23) << 16);
      return valid((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    case 0x58:
      return valid(little24(bytes, 24) + 1, little24(bytes, 27) + 1);
    default:
      return undefined;
  }
}

function valid(width: number, height: number): ImageSize | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined;
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function big16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

function big32(bytes: Uint8Array, offset: number): number {
  return big16(bytes, offset) * 0x10000 + big16(bytes, offset + 2);
}

function little16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
}

function little24(bytes: Uint8Array, offset: number): number {
  return little16(bytes, offset) | ((bytes[offset + 2] ?? 0) << 16);
}
