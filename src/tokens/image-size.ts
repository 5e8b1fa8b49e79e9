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
