import { describe, expect, it } from 'vitest';
import { imageSize } from './image-size.ts';

const base64 = (...bytes: number[]) => btoa(String.fromCharCode(...bytes));
const ascii = (text: string) => [...text].map((char) => char.charCodeAt(0));
const zeros = (count: number) => Array.from({ length: count }, () => 0);

describe('imageSize', () => {
  it.each([
    {
      kind: 'PNG',
      data: base64(
        0x89,
        ...ascii('PNG\r\n\x1a\n'),
        0,
        0,
        0,
        13,
        ...ascii('IHDR'),
        0,
        0,
        7,
        0x80,
        0,
        0,
        4,
        0x38,
        ...zeros(8),
      ),
    },
    { kind: 'GIF', data: base64(...ascii('GIF89a'), 0x80, 0x07, 0x38, 0x04, ...zeros(20)) },
    {
      kind: 'lossy WebP',
      data: base64(
        ...ascii('RIFF'),
        ...zeros(4),
        ...ascii('WEBPVP8 '),
        ...zeros(10),
        0x80,
        0x07,
        0x38,
        0x04,
        ...zeros(6),
      ),
    },
    {
      kind: 'lossless WebP',
      data: base64(
        ...ascii('RIFF'),
        ...zeros(4),
        ...ascii('WEBPVP8L'),
        ...zeros(4),
        0x2f,
        0x7f,
        0xc7,
        0x0d,
        0x01,
        ...zeros(8),
      ),
    },
    {
      kind: 'extended WebP',
      data: base64(
        ...ascii('RIFF'),
        ...zeros(4),
        ...ascii('WEBPVP8X'),
        ...zeros(8),
        0x7f,
        0x07,
        0,
        0x37,
        0x04,
        0,
        ...zeros(4),
      ),
    },
    {
      kind: 'JPEG behind its metadata',
      data: base64(
        0xff,
        0xd8,
        0xff,
        0xe0,
        0,
        40,
        ...zeros(38),
        0xff,
        0xc0,
        0,
        17,
        8,
        4,
        0x38,
        7,
        0x80,
        ...zeros(12),
      ),
    },
  ])('reads 1920×1080 from a $kind', ({ data }) => {
    expect(imageSize(data)).toEqual({ width: 1920, height: 1080 });
  });

  it.each([
    { what: 'an empty string', data: '' },
    { what: 'no base64', data: '*** not base64 ***' },
    { what: 'base64 damaged in the middle of the header', data: `iVBORw0KGgo${'REDACTED!'.repeat(4)}` },
    { what: 'another file', data: btoa('%PDF-1.7 and so on and so forth, more than 32 bytes') },
    {
      what: 'a JPEG that ends before its frame',
      data: base64(0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, ...zeros(60)),
    },
  ])('gives up on $what', ({ data }) => {
    expect(imageSize(data)).toBeUndefined();
  });
});
