/** A call of the chat format, without its result. */
export interface NativeCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A call with its result, as a `<details type="tool_calls">` element holds it. */
export interface FoldedCall extends NativeCall {
  readonly result: string;
}

/** One such element in a text. */
interface ToolBlock {
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
type BlockFault = 'damaged' | 'nested' | 'unfinished' | 'incomplete' | 'illegal-name';

/** How every element of this kind begins. */
export const OPENING = '<details type="tool_calls"';
const CLOSING = '</details>';
const SUMMARY_END = '</summary>';
const LONGEST_NAME = 40;

/** The element that begins here, or what is wrong with it. Looks at nothing behind its end. */
function readToolBlock(text: string, start: number): ToolBlock | BlockFault {
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
  return { end: closing + CLOSING.length, call, resultAt };
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
  { blocks }: ScannedText,
  resultOf: (call: FoldedCall) => string,
): string {
  let written = '';
  let from = 0;
  for (const block of blocks) {
    const result = resultOf(block.call);
    if (result === block.call.result) continue;
    written += text.slice(from, block.resultAt.start) + escapeHtml(JSON.stringify(result));
    from = block.resultAt.end;
  }
  return written + text.slice(from);
}

/** Whether a tool may have this name: a folded call with another one is legal as text, and as a call it is refused. */
export function isLegalName(name: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name);
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

/**
 * Why a text cannot be unfolded exactly: something about one of its elements, or
 * - `inline`: one stands in the middle of a line
 * - `inside-code`: one stands in a block of code, so that it may be an example
 */
export type TextFault = BlockFault | 'inline' | 'inside-code';

/** A text as elements and what stands before, between and behind them: always one piece more than elements. */
export interface ScannedText {
  readonly blocks: readonly ToolBlock[];
  readonly pieces: readonly string[];
}

/** Finds the folded calls of a text in one pass. In doubt it says why, and guesses nothing. */
export function scanText(text: string): ScannedText | TextFault {
  const blocks: ToolBlock[] = [];
  const pieces: string[] = [];
  let isCode = false;
  let from = 0;
  for (let start = text.indexOf(OPENING); start !== -1; start = text.indexOf(OPENING, from)) {
    const piece = text.slice(from, start);
    if (piece !== '' && !piece.endsWith('\n')) return 'inline';
    isCode = isCode !== togglesCode(piece);
    if (isCode) return 'inside-code';
    const block = readToolBlock(text, start);
    if (typeof block === 'string') return block;
    pieces.push(piece);
    blocks.push(block);
    from = block.end;
  }
  pieces.push(text.slice(from));
  const faults = pieces.map((piece) => faultInPiece(piece, blocks.length > 0));
  const fault = faults.find((one) => one !== undefined);
  return fault ?? { blocks, pieces: pieces.map((piece, index) => trimBreaks(piece, index, blocks.length)) };
}

/** Whether a text opens a block of code without closing it, or the other way round. */
function togglesCode(piece: string): boolean {
  return [...piece.matchAll(/(?:^|\n)```/g)].length % 2 === 1;
}

/** What is left over may hold other elements, but only whole ones, and no call that is written in another way. */
function faultInPiece(piece: string, hasBlocks: boolean): TextFault | undefined {
  const [, ...elements] = piece.split('<details');
  if (elements.some((element) => element.split('>', 1)[0]?.includes('tool_calls'))) return 'damaged';
  const closed = piece.split(CLOSING).length - 1;
  return hasBlocks && elements.length !== closed ? 'nested' : undefined;
}

/** A line break on either side belongs to the element. */
function trimBreaks(piece: string, index: number, blocks: number): string {
  const start = index > 0 && piece.startsWith('\n') ? 1 : 0;
  const end =
    index < blocks && piece.length > start && piece.endsWith('\n') ? piece.length - 1 : piece.length;
  return piece.slice(start, end);
}

/** What Open WebUI writes in the place of characters that mean something in markup. */
const ESCAPES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#x27;'],
]);

/** The same the other way round, with how others write quotes. */
const REFERENCES = new Map([
  ...[...ESCAPES].map(([character, reference]): [string, string] => [reference, character]),
  ['&#34;', '"'],
  ['&#39;', "'"],
  ['&apos;', "'"],
]);

/** Text that may stand between double quotes in a tag. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES.get(character) ?? character);
}

/** The text that was escaped. References that nobody writes here stay as they are. */
function unescapeHtml(text: string): string {
  return text.replaceAll(
    /&(?:amp|lt|gt|quot|apos|#34|#39|#x27);/g,
    (reference) => REFERENCES.get(reference) ?? reference,
  );
}
