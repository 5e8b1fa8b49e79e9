import { constantMarkup, html, type Markup } from '../html/markup.ts';
import { seriesColours } from '../html/palette.ts';

/** Outlines around 0,0: a series is known by its mark as well as by its colour. */
const SHAPES = [
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z',
  'M-4-4h8v8h-8z',
  'M0-5.5L5 4H-5z',
  'M0-5.5L5.5 0L0 5.5L-5.5 0z',
  'M0 5.5L5-4H-5z',
  'M-5-1.8h3.2v-3.2h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2z',
  'M0-5.5L5.2-1.7L3.2 4.5H-3.2L-5.2-1.7z',
  'M-5-2h10v4h-10z',
];

/** The shapes that `mark` draws; once per page. */
export const markShapes: Markup = html`<svg class="defs" width="0" height="0" aria-hidden="true"><defs>${SHAPES.map(
  (path, index) => html`<path id="m${index}" d="${constantMarkup(path)}"/>`,
)}</defs></svg>`;

/** How a series looks: a class for its colour, the number of its mark, and the kind of its line. */
export interface SeriesLook {
  readonly colour: string;
  readonly mark: number;
  readonly line: '' | 'dashed' | 'dotted';
}

/** The look of the series with this number. After eight the colours come again, with another line. */
export function lookOf(index: number): SeriesLook {
  const turn = Math.floor(index / seriesColours);
  return {
    colour: `s${index % seriesColours}`,
    mark: (index + turn) % SHAPES.length,
    line: turn === 0 ? '' : 'dashed',
  };
}

/** The look of what the best possible text would reach. */
export const oracleLook: SeriesLook = { colour: 'dark', mark: 3, line: 'dashed' };

/** The mark of a series at a place of the plot, in percent of its width and height. */
export function mark({ colour, mark: shape }: SeriesLook, left: string, top: string): Markup {
  return html`<use href="#m${shape}" x="${left}" y="${top}" class="mark ${colour}"/>`;
}

/** A list of what the lines and marks of a chart stand for. */
export function key(
  entries: readonly { readonly name: Markup | string; readonly look: SeriesLook }[],
): Markup {
  return html`<ul class="key">${entries.map(
    ({ name, look }) => html`<li>${sample(look)}<span>${name}</span></li>`,
  )}</ul>`;
}

function sample(look: SeriesLook): Markup {
  return html`<svg width="30" height="12" aria-hidden="true"><line x1="0" x2="30" y1="6" y2="6" class="curve ${look.colour} ${look.line}"/>${mark(look, '15', '6')}</svg>`;
}
