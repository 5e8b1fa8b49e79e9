import type { MediaBlock } from '../conversation/message.ts';
import { type ImageSize, imageSize } from './image-size.ts';

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
