import { describe, expect, it } from 'vitest';
import {
  claudeImages,
  countPdfPages,
  geminiResolutions,
  geminiTiles,
  imageSize,
  openaiPatches,
  openaiTiles,
} from './media.ts';

const size = (width: number, height: number) => ({ width, height });

describe('pictures by the published formulae', () => {
  it.each([
    { rule: 'Claude, standard', count: claudeImages(1568, 1568), picture: size(1000, 1000), tokens: 1296 },
    { rule: 'Claude, standard', count: claudeImages(1568, 1568), picture: size(1920, 1080), tokens: 1560 },
    { rule: 'Claude, high', count: claudeImages(2576, 4784), picture: size(1920, 1080), tokens: 2691 },
    { rule: 'OpenAI tiles', count: openaiTiles(85, 170), picture: size(1024, 1024), tokens: 765 },
    { rule: 'OpenAI tiles', count: openaiTiles(85, 170), picture: size(2048, 4096), tokens: 1105 },
    { rule: 'OpenAI patches', count: openaiPatches(1.62), picture: size(1024, 1024), tokens: 1659 },
    { rule: 'OpenAI patches at their cap', count: openaiPatches(1), picture: size(9000, 9000), tokens: 1536 },
    { rule: 'Gemini 2, small', count: geminiTiles(), picture: size(384, 200), tokens: 258 },
    { rule: 'Gemini 2, tiled', count: geminiTiles(), picture: size(1536, 768), tokens: 516 },
    { rule: 'Gemini 3', count: geminiResolutions(), picture: size(10, 10), tokens: 1120 },
  ])('$rule counts $picture.width×$picture.height as $tokens', ({ count, picture, tokens }) => {
    expect(count(picture, undefined)).toBe(tokens);
  });

  it('costs the base alone at low detail', () => {
    expect(openaiTiles(85, 170)(size(4000, 4000), 'low')).toBe(85);
  });
});

describe('countPdfPages', () => {
  it.each([
    { what: 'page objects', data: btoa('/Type /Pages /Type /Page x /Type/Page /Type /PageLabels'), pages: 2 },
    { what: 'the size when pages are packed away', data: btoa('x'.repeat(120_000)), pages: 3 },
    { what: 'one page for a link', data: undefined, pages: 1 },
    { what: 'the size when the data is damaged', data: '!'.repeat(107_000), pages: 2 },
  ])('finds $pages by $what', ({ data, pages }) => {
    expect(countPdfPages(data)).toBe(pages);
  });
});

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
