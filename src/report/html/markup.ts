import { escapeUnprintable, printable, printablePath } from '../../conversation/printable.ts';

/** Only this module can make one: no value that was read from a file has this key. */
const MARKUP = Symbol('markup');

/** A piece of HTML. Everything else is text and is escaped where it is put into a page. */
export interface Markup {
  readonly [MARKUP]: string;
}

type Part = Markup | readonly Markup[] | string | number | undefined;

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/**
 * Makes HTML from a template. What is put in is escaped, for text and for quoted attributes alike, unless it is markup;
 * characters that are not shown, or that turn the direction of text, become visible escapes. `undefined` is nothing.
 * Line breaks of the template and the blanks after them are left out.
 */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const words = template.map((text) => text.replaceAll(/\n\s*/g, ''));
  const text = parts.reduce<string>(
    (before, part, index) => `${before}${toHtml(part)}${words[index + 1] ?? ''}`,
    words[0] ?? '',
  );
  return { [MARKUP]: text };
}

/** The characters of a piece of HTML. */
export function textOfMarkup(piece: Markup): string {
  return piece[MARKUP];
}

/** HTML from a constant of the project: a stylesheet, the coordinates of a path. Never for text that was read. */
export function constantMarkup(text: string): Markup {
  return { [MARKUP]: text };
}

/** A stranger's words as one line, apart from the direction of the text around them. */
export function quoted(text: string, length = 100): Markup {
  return html`<bdi>${printable(text, length)}</bdi>`;
}

/** A stranger's path as one line; of a long one the end is kept. */
export function quotedPath(path: string, length = 60): Markup {
  return html`<bdi class="path">${printablePath(path, length)}</bdi>`;
}

function toHtml(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  if (MARKUP in part) return part[MARKUP];
  return part.map((piece) => piece[MARKUP]).join('');
}

function escapeHtml(text: string): string {
  return escapeUnprintable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '');
}
