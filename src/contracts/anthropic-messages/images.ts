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
  if (longerSidePixels(encodedData(image) ?? '') <= maxPixelsOfMany) return [];
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

/** The sizes of the four formats the API takes stand in their headers; only a JPEG may have long notes before it. */
const headerCharacters = 262_144;

/** The longer side of a base64-encoded PNG, GIF, WebP or JPEG. 0 for anything else, damaged or not. */
function longerSidePixels(base64: string): number {
  const view = decode(base64.slice(0, headerCharacters));
  const start = view.byteLength < 4 ? 0 : view.getUint32(0);
  if (start === 0x89504e47 && view.byteLength >= 24) return Math.max(view.getUint32(16), view.getUint32(20));
  if (start === 0x47494638 && view.byteLength >= 10)
    return Math.max(view.getUint16(6, true), view.getUint16(8, true));
  if (start === 0x52494646 && view.byteLength >= 30) return longerSideOfWebp(view);
  return start >>> 16 === 0xffd8 ? longerSideOfJpeg(view) : 0;
}

function decode(base64: string): DataView {
  try {
    return new DataView(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer);
  } catch {
    return new DataView(new ArrayBuffer(0));
  }
}

function longerSideOfWebp(view: DataView): number {
  if (view.getUint32(8) !== 0x57454250) return 0;
  switch (view.getUint32(12)) {
    case 0x56503858: // VP8X: 24-bit sizes, less one
      return Math.max(uint24(view, 24), uint24(view, 27)) + 1;
    case 0x5650384c: {
      // VP8L: two 14-bit sizes, less one
      const bits = view.getUint32(21, true);
      return Math.max(bits & 0x3fff, (bits >>> 14) & 0x3fff) + 1;
    }
    case 0x56503820: // VP8
      return Math.max(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
    default:
      return 0;
  }
}

function uint24(view: DataView, offset: number): number {
  return view.getUint16(offset, true) + view.getUint8(offset + 2) * 0x10000;
}

function longerSideOfJpeg(view: DataView): number {
  let offset = 2;
  while (offset + 9 <= view.byteLength && view.getUint8(offset) === 0xff) {
    const marker = view.getUint8(offset + 1);
    if (isFrameMarker(marker)) return Math.max(view.getUint16(offset + 7), view.getUint16(offset + 5));
    offset += 2 + view.getUint16(offset + 2);
  }
  return 0;
}

/** Start-of-frame markers; C4, C8 and CC between them mean other things. */
function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
