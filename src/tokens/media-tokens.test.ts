import { describe, expect, it } from 'vitest';
import {
  claudeImages,
  countPdfPages,
  geminiResolutions,
  geminiTiles,
  openaiPatches,
  openaiTiles,
} from './media-tokens.ts';

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
