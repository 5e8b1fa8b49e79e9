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
