import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { darkPalette, lightPalette, pageStyle, pageStyleHash } from './style.ts';

/** Contrast of two colours as WCAG 2 defines it: 1 to 21. */
function contrast(left: string, right: string): number {
  const [lighter = 0, darker = 0] = [left, right].map(luminance).sort((one, other) => other - one);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe.each([
  { screen: 'light', palette: lightPalette },
  { screen: 'dark', palette: darkPalette },
])('the colours of $screen screens', ({ palette }) => {
  const { page, surface, ink, muted, accent, good, warning, critical, series } = palette;

  it.each([page, surface])('can be read on %s: at least 4.5', (background) => {
    const texts = [ink, muted, accent, good, warning, critical];

    expect(texts.filter((colour) => contrast(colour, background) < 4.5)).toEqual([]);
  });

  it('carry names inside bars: at least 4.5', () => {
    expect(series.filter((colour) => contrast(colour, surface) < 4.5)).toEqual([]);
  });
});

describe('the stylesheet', () => {
  it('is the one that the policy of the page names', () => {
    expect(pageStyleHash).toBe(createHash('sha256').update(pageStyle).digest('base64'));
  });

  it('asks for nothing from outside', () => {
    expect(pageStyle).not.toMatch(/url\(|@import|@font-face|https?:/);
  });
});
