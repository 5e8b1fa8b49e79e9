import type { Violation } from '../contract.ts';
import { read, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { type Block, type Request, readTypedList } from './request.ts';

const rules = defineRules({
  'images-over-limit': {
    alias: 'A35',
    title: 'images are within the limits of number and size',
    fix: 'Shrink the image or send fewer images.',
    evidence: 'reported',
    wording: (path: string, fault: string) => `${path}: ${fault}`,
  },
});

const mebibyte = 1024 * 1024;
const manyImages = 20;
const maxPixelsOfMany = 2000;

/** Images: how many, how large, and how wide when there are many. */
export const anthropicImages: RuleGroup<Request> = { rules, check: checkImages };

function checkImages(request: Request): readonly Violation[] {
  const found = request.messages.flatMap(({ blocks }) => blocks.flatMap(imagesOf));
  return [
    ...checkNumber(found, request),
    ...found.flatMap((image) => checkSize(image, request)),
    ...(found.length > manyImages ? found.flatMap(checkDimensions) : []),
  ];
}

function imagesOf(block: Block): Block[] {
  if (block.type === 'image') return [block];
  if (block.type !== 'tool_result') return [];
  const parts = readTypedList(read(block.value, 'content'), `${block.path}.tool_result.content`);
  return parts.filter(({ type }) => type === 'image');
}

function checkNumber(images: readonly Block[], { facts }: Request): Violation[] {
  const excess = images[facts.maxImages];
  if (excess === undefined) return [];
  const fault = `Too much media: 0 document pages + ${images.length} images > ${facts.maxImages}`;
  return [report(rules['images-over-limit'], excess.path, fault)];
}

/** The limit holds for the encoded text, not for the bytes it stands for. */
function checkSize(image: Block, request: Request): Violation[] {
  const sizeBytes = encodedData(image)?.length ?? 0;
  const limitMebibytes = isCloud(request) ? 5 : 10;
  const limitBytes = limitMebibytes * mebibyte;
  if (sizeBytes <= limitBytes) return [];
  const fault = `image exceeds ${limitMebibytes} MB maximum: ${sizeBytes} bytes > ${limitBytes} bytes`;
  return [report(rules['images-over-limit'], `${image.path}.image.source.base64`, fault)];
}

function checkDimensions(image: Block): Violation[] {
  const size = imageSize(encodedData(image) ?? '');
  if (size === undefined || Math.max(size.widthPixels, size.heightPixels) <= maxPixelsOfMany) return [];
  const fault = `At least one of the image dimensions exceed max allowed size for many-image requests: ${maxPixelsOfMany} pixels`;
  return [report(rules['images-over-limit'], `${image.path}.image.source.base64.data`, fault)];
}

function encodedData({ value }: Block): string | undefined {
  return readText(read(value, 'source'), 'data');
}

/** Bedrock and Vertex: named by the caller, or by the version in the body. */
function isCloud({ context, body }: Request): boolean {
  const version = readText(body, 'anthropic_version') ?? '';
  return [context.vendor ?? '', version].some(
    (name) => name.startsWith('bedrock') || name.startsWith('vertex'),
  );
}

/** Width and height of an image. */
export interface ImageSize {
  readonly widthPixels: number;
  readonly heightPixels: number;
}

type SizeReader = (view: DataView) => ImageSize | undefined;

/** The sizes of the four formats the API takes stand in their headers; only a JPEG may have long notes before it. */
const headerCharacters = 262_144;

const readers: readonly SizeReader[] = [readPng, readGif, readWebp, readJpeg];

/** Reads the size from a base64-encoded PNG, GIF, WebP or JPEG. Undefined for anything else, damaged or not. */
export function imageSize(base64: string): ImageSize | undefined {
  const bytes = decode(base64.slice(0, headerCharacters));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const read of readers) {
    const size = read(view);
    if (size !== undefined) return size;
  }
  return undefined;
}

function decode(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function readPng(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || view.getUint32(0) !== 0x89504e47) return undefined;
  return { widthPixels: view.getUint32(16), heightPixels: view.getUint32(20) };
}

function readGif(view: DataView): ImageSize | undefined {
  if (view.byteLength < 10 || view.getUint32(0) !== 0x47494638) return undefined;
  return { widthPixels: view.getUint16(6, true), heightPixels: view.getUint16(8, true) };
}

function readWebp(view: DataView): ImageSize | undefined {
  const isWebp =
    view.byteLength >= 30 && view.getUint32(0) === 0x52494646 && view.getUint32(8) === 0x57454250;
  if (!isWebp) return undefined;
  switch (view.getUint32(12)) {
    case 0x56503858: // VP8X: 24-bit sizes, less one
      return { widthPixels: uint24(view, 24) + 1, heightPixels: uint24(view, 27) + 1 };
    case 0x5650384c: {
      // VP8L: two 14-bit sizes, less one
      const bits = view.getUint32(21, true);
      return { widthPixels: (bits & 0x3fff) + 1, heightPixels: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503820: // VP8
      return {
        widthPixels: view.getUint16(26, true) & 0x3fff,
        heightPixels: view.getUint16(28, true) & 0x3fff,
      };
    default:
      return undefined;
  }
}

function uint24(view: DataView, offset: number): number {
  return view.getUint16(offset, true) + view.getUint8(offset + 2) * 0x10000;
}

function readJpeg(view: DataView): ImageSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  let offset = 2;
  while (offset + 9 <= view.byteLength && view.getUint8(offset) === 0xff) {
    const marker = view.getUint8(offset + 1);
    if (isFrameMarker(marker)) {
      return { widthPixels: view.getUint16(offset + 7), heightPixels: view.getUint16(offset + 5) };
    }
    offset += 2 + view.getUint16(offset + 2);
  }
  return undefined;
}

/** Start-of-frame markers; C4, C8 and CC between them mean other things. */
function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
