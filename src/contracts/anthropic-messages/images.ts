import type { Violation } from '../contract.ts';
import { read, readText } from '../json-value.ts';
import { imageSize } from './image-size.ts';
import { type Block, type Check, type Request, readTypedList } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

const mebibyte = 1024 * 1024;
const manyImages = 20;
const maxPixelsOfMany = 2000;

/** Images: how many, how large, and how wide when there are many. */
export const checkImages: Check = (request) => {
  const images = request.messages.flatMap(({ blocks }) => blocks.flatMap(imagesOf));
  return [
    ...checkNumber(images, request),
    ...images.flatMap((image) => checkSize(image, request)),
    ...(images.length > manyImages ? images.flatMap(checkDimensions) : []),
  ];
};

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
  return [report(rules.imagesOverLimit, excess.path, fault)];
}

/** The limit holds for the encoded text, not for the bytes it stands for. */
function checkSize(image: Block, request: Request): Violation[] {
  const sizeBytes = encodedData(image)?.length ?? 0;
  const limitMebibytes = isCloud(request) ? 5 : 10;
  const limitBytes = limitMebibytes * mebibyte;
  if (sizeBytes <= limitBytes) return [];
  const fault = `image exceeds ${limitMebibytes} MB maximum: ${sizeBytes} bytes > ${limitBytes} bytes`;
  return [report(rules.imagesOverLimit, `${image.path}.image.source.base64`, fault)];
}

function checkDimensions(image: Block): Violation[] {
  const size = imageSize(encodedData(image) ?? '');
  if (size === undefined || Math.max(size.widthPixels, size.heightPixels) <= maxPixelsOfMany) return [];
  const fault = `At least one of the image dimensions exceed max allowed size for many-image requests: ${maxPixelsOfMany} pixels`;
  return [report(rules.imagesOverLimit, `${image.path}.image.source.base64.data`, fault)];
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
