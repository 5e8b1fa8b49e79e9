import { markShapes } from '../charts/marks.ts';
import { constantMarkup, html, type Markup, textOfMarkup } from './markup.ts';
import { pageStyle, pageStyleHash } from './style.ts';

export interface PageContent {
  readonly title: string;
  /** What kind of report this is: `inspection`. */
  readonly kind: string;
  readonly heading: Markup;
  readonly lead: Markup | undefined;
  readonly body: readonly Markup[];
}

/** Nothing may be loaded and nothing run: the page is its own text and one stylesheet, named by its hash. */
const POLICY = `default-src 'none'; style-src 'sha256-${pageStyleHash}'; base-uri 'none'; form-action 'none'`;

/** Says which program wrote the page. */
export const PAGE_GENERATOR = '<meta name="generator" content="roundfold">';

/** One self-contained page. It needs no network, no script and no font but those of the reader's machine. */
export function renderPage({ title, kind, heading, lead, body }: PageContent): string {
  const page = html`
    <html lang="en">
    <head>
    <meta charset="utf-8">
    ${constantMarkup(PAGE_GENERATOR)}
    <meta http-equiv="Content-Security-Policy" content="${constantMarkup(POLICY)}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>${title}</title>
    <style>${constantMarkup(pageStyle)}</style>
    </head>
    <body>
    <a class="skip" href="#content">Skip to the report</a>
    ${markShapes}
    <header class="top">
    <p class="name">roundfold ${kind}</p>
    <h1>${heading}</h1>
    ${lead === undefined ? undefined : html`<p class="lead">${lead}</p>`}
    </header>
    <main id="content" tabindex="-1">${body}</main>
    <footer>Made offline by roundfold. This page loads nothing and runs no script.</footer>
    </body>
    </html>`;
  return `<!doctype html>\n${textOfMarkup(page)}\n`;
}

/** A part of a page under a heading of its own. */
export function section(id: string, heading: string, content: readonly (Markup | undefined)[]): Markup {
  const shown = content.filter((piece) => piece !== undefined);
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>${shown}</section>`;
}

/** A part of a part. */
export function subsection(id: string, heading: string, content: readonly (Markup | undefined)[]): Markup {
  const shown = content.filter((piece) => piece !== undefined);
  return html`<section aria-labelledby="${id}"><h3 id="${id}">${heading}</h3>${shown}</section>`;
}

export interface Statistic {
  readonly name: string;
  readonly value: string;
  readonly detail?: string | undefined;
  readonly level?: 'ok' | 'warning' | 'critical' | undefined;
}

/** A few numbers that say the most. */
export function statistics(list: readonly Statistic[]): Markup {
  return html`<dl class="stats">${list.map(statistic)}</dl>`;
}

function statistic({ name, value, detail, level }: Statistic): Markup {
  const colour = level === undefined ? undefined : html` class="${level}"`;
  const small = detail === undefined ? undefined : html`<small${colour}>${detail}</small>`;
  return html`<div><dt>${name}</dt><dd>${value}${small}</dd></div>`;
}
