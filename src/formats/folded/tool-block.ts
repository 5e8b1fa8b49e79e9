import { escapeHtml, unescapeHtml } from './escape-html.ts';
import { isLegalName } from './native-messages.ts';

/** A call with its result, as a `<details type="tool_calls">` element holds it. */
export interface FoldedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly result: string;
}

/** One such element in a text. */
export interface ToolBlock {
  readonly start: number;
  readonly end: number;
  readonly call: FoldedCall;
  /** Where its result stands, escaped. */
  readonly resultAt: Range;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Why an element cannot be read exactly.
 * - `damaged`: it does not end, or is not written as such elements are
 * - `nested`: it stands in another element, or another one in it
 * - `unfinished`: its tool was still running
 * - `incomplete`: name, id, arguments or result are missing
 * - `illegal-name`: no tool may have this name
 */
export type BlockFault = 'damaged' | 'nested' | 'unfinished' | 'incomplete' | 'illegal-name';

/** How every element of this kind begins. */
export const OPENING = '<details type="tool_calls"';
const CLOSING = '</details>';
const SUMMARY_END = '</summary>';
const LONGEST_NAME = 40;

/** The element that begins here, or what is wrong with it. Looks at nothing behind its end. */
export function readToolBlock(text: string, start: number): ToolBlock | BlockFault {
  const tag = readTag(text, start + OPENING.length);
  if (tag === undefined) return 'damaged';
  const closing = text.indexOf(CLOSING, tag.end);
  if (closing === -1) return 'damaged';
  if (text.slice(tag.end, closing).includes('<details')) return 'nested';
  const attribute = (name: string): string | undefined => {
    const range = tag.attributes.get(name);
    return range === undefined ? undefined : unescapeHtml(text.slice(range.start, range.end));
  };
  if (attribute('done') === 'false') return 'unfinished';
  const id = attribute('id');
  const name = attribute('name');
  const input = attribute('arguments');
  const resultAt = tag.attributes.get('result') ?? resultInBody(text, tag.end, closing);
  if (!id || !name || !input || resultAt === undefined) return 'incomplete';
  if (!isLegalName(name)) return 'illegal-name';
  const given = decoded(input);
  const result = decoded(unescapeHtml(text.slice(resultAt.start, resultAt.end)));
  if (given === undefined || result === undefined) return 'damaged';
  const call = { id, name, arguments: given, result };
  return { start, end: closing + CLOSING.length, call, resultAt };
}

/** The element for a call, with the line break that ends it. */
export function writeToolBlock({ id, name, arguments: input, result }: FoldedCall): string {
  const attributes = [
    ['done', 'true'],
    ['id', id],
    ['name', name],
    ['arguments', JSON.stringify(input)],
    ['result', JSON.stringify(result)],
    ['files', ''],
    ['embeds', ''],
  ] as const;
  const written = attributes.map(([key, value]) => ` ${key}="${escapeHtml(value)}"`).join('');
  return `${OPENING}${written}>\n<summary>Tool Executed</summary>\n${CLOSING}\n`;
}

/** The text with other results in its elements: nothing but the results changes. */
export function withResults(
  text: string,
  blocks: readonly ToolBlock[],
  resultOf: (block: ToolBlock, index: number) => string,
): string {
  let written = '';
  let from = 0;
  for (const [index, block] of blocks.entries()) {
    const result = resultOf(block, index);
    if (result === block.call.result) continue;
    written += text.slice(from, block.resultAt.start) + escapeHtml(JSON.stringify(result));
    from = block.resultAt.end;
  }
  return written + text.slice(from);
}

interface Tag {
  /** Where the value of each attribute stands. */
  readonly attributes: ReadonlyMap<string, Range>;
  readonly end: number;
}

/** The rest of an opening tag: a space, a name, a value in double quotes, again and again. */
function readTag(text: string, from: number): Tag | undefined {
  const attributes = new Map<string, Range>();
  let index = from;
  while (text[index] === ' ') {
    const equals = text.indexOf('="', index);
    const name = text.slice(index + 1, equals);
    if (equals === -1 || equals - index > LONGEST_NAME || !/^[a-z_-]+$/.test(name)) return undefined;
    const end = text.indexOf('"', equals + 2);
    if (end === -1 || attributes.has(name)) return undefined;
    attributes.set(name, { start: equals + 2, end });
    index = end + 1;
  }
  return text[index] === '>' ? { attributes, end: index + 1 } : undefined;
}

/** Newer versions write the result behind the summary, on lines of its own. */
function resultInBody(text: string, from: number, to: number): Range | undefined {
  const summaryEnd = text.slice(from, to).indexOf(SUMMARY_END);
  if (summaryEnd === -1) return undefined;
  let start = from + summaryEnd + SUMMARY_END.length;
  let end = to;
  if (text[start] === '\n' && start < end) start++;
  if (text[end - 1] === '\n' && start < end) end--;
  return start < end ? { start, end } : undefined;
}

/** Values are JSON: a string stands for its text, everything else for itself. Undefined for half a string. */
function decoded(value: string): string | undefined {
  if (!value.startsWith('"')) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'string' ? parsed : undefined;
  } catch {
    return undefined;
  }
}
