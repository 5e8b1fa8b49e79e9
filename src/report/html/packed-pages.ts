import { constantMarkup, html, type Markup, textOfMarkup } from './markup.ts';

/** Pages of sessions are alike: packed together they take a third of what each takes by itself. */
const PAGES_IN_PACK = 16;

/** Separates pages; no markup holds it. */
const SEPARATOR = '\0';

/** Packs text as raw DEFLATE, which every browser can unpack. */
export type Deflate = (text: string) => { toString(encoding: 'base64'): string };

/**
 * Parts of a page that are shown one at a time, packed so that thousands of them stay small. The page's script unpacks the one
 * that is asked for; nothing is loaded.
 */
export function packPages(pages: readonly (Markup | undefined)[], deflate: Deflate): Markup {
  const packs: Markup[] = [];
  for (let start = 0; start < pages.length; start += PAGES_IN_PACK) {
    const texts = pages
      .slice(start, start + PAGES_IN_PACK)
      .map((page) => (page === undefined ? '' : textOfMarkup(page)));
    const packed = deflate(texts.join(SEPARATOR)).toString('base64');
    packs.push(html`<p>${constantMarkup(packed)}</p>`);
  }
  return html`<template id="pages" data-in-pack="${PAGES_IN_PACK}">${packs}</template>`;
}
