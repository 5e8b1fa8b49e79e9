import { unescapeHtml } from '../html-text.ts';

/** A `<details>` element in the text of a message: how Open WebUI folds tool calls, reasoning and code runs. */
export interface DetailsBlock {
  /** Where the element begins and ends in the text. */
  readonly start: number;
  readonly end: number;
  /** Its `type` attribute: `tool_calls`, `reasoning`, `code_interpreter`; undefined for one that somebody wrote. */
  readonly type: string | undefined;
  /** Attributes with their character references resolved. An attribute without a value is an empty string. */
  readonly attributes: ReadonlyMap<string, string>;
  /** What stands between the tags, as it is. */
  readonly body: string;
}

interface OpenElement {
  readonly start: number;
  readonly bodyStart: number;
  readonly attributes: ReadonlyMap<string, string>;
  /** Elements inside. They count only if this one is never closed. */
  readonly inner: DetailsBlock[];
}

const OPENING = '<details';
const CLOSING = '</details>';

/**
 * The `<details>` elements of a text, outermost ones only, in order. One pass, whatever the text. Tags that are
 * malformed or never closed are text; behind a tag that never ends nothing more is found.
 */
export function parseDetailsBlocks(text: string): readonly DetailsBlock[] {
  const found: DetailsBlock[] = [];
  const open: OpenElement[] = [];
  let opening = text.indexOf(OPENING);
  let closing = text.indexOf(CLOSING);
  while (opening !== -1 || (closing !== -1 && open.length > 0)) {
    if (closing !== -1 && (opening === -1 || closing < opening)) {
      const end = closing + CLOSING.length;
      const element = open.pop();
      if (element !== undefined) (open.at(-1)?.inner ?? found).push(close(element, text, closing, end));
      closing = text.indexOf(CLOSING, end);
      continue;
    }
    const tag = scanTag(text, opening + OPENING.length);
    if (tag.attributes !== undefined) {
      open.push({ start: opening, bodyStart: tag.end, attributes: tag.attributes, inner: [] });
    }
    opening = text.indexOf(OPENING, tag.end);
    if (closing !== -1 && closing < tag.end) closing = text.indexOf(CLOSING, tag.end);
  }
  return [...found, ...open.flatMap(({ inner }) => inner)];
}

function close(element: OpenElement, text: string, bodyEnd: number, end: number): DetailsBlock {
  const { start, bodyStart, attributes } = element;
  return { start, end, type: attributes.get('type'), attributes, body: text.slice(bodyStart, bodyEnd) };
}

interface Tag {
  /** Undefined when this is no tag. */
  readonly attributes: ReadonlyMap<string, string> | undefined;
  /** Where the tag ends, or where it turned out to be none. */
  readonly end: number;
}

function scanTag(text: string, from: number): Tag {
  const attributes = new Map<string, string>();
  let index = from;
  while (index < text.length) {
    const start = skipSpace(text, index);
    if (text[start] === '>') return { attributes, end: start + 1 };
    // Without a space in front, this is another name: `<detailsman>`, `a="1"b`.
    if (start === index) return { attributes: undefined, end: start };
    const attribute = scanAttribute(text, start);
    if (attribute === undefined) return { attributes: undefined, end: start };
    if (!attributes.has(attribute.name)) attributes.set(attribute.name, unescapeHtml(attribute.value));
    index = attribute.end;
  }
  return { attributes: undefined, end: text.length };
}

interface Attribute {
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

function scanAttribute(text: string, from: number): Attribute | undefined {
  const nameEnd = skipName(text, from);
  const name = text.slice(from, nameEnd);
  if (name === '') return undefined;
  if (text[nameEnd] !== '=') return { name, value: '', end: nameEnd };
  const quote = text[nameEnd + 1];
  if (quote === '"' || quote === "'") {
    const valueStart = nameEnd + 2;
    const valueEnd = text.indexOf(quote, valueStart);
    if (valueEnd === -1) return { name, value: '', end: text.length };
    return { name, value: text.slice(valueStart, valueEnd), end: valueEnd + 1 };
  }
  const valueEnd = skipName(text, nameEnd + 1);
  return { name, value: text.slice(nameEnd + 1, valueEnd), end: valueEnd };
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (index < text.length && SPACES.has(text[index] ?? '')) index++;
  return index;
}

function skipName(text: string, from: number): number {
  let index = from;
  while (index < text.length && !NAME_ENDS.has(text[index] ?? '')) index++;
  return index;
}

const SPACES = new Set([' ', '\t', '\n', '\r', '\f']);
const NAME_ENDS = new Set([...SPACES, '=', '>', '<', '"', "'", '/']);
