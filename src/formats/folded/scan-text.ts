import { type BlockFault, OPENING, readToolBlock, type ToolBlock } from './tool-block.ts';

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
  const fault = pieces
    .map((piece) => faultInPiece(piece, blocks.length > 0))
    .find((one) => one !== undefined);
  return fault ?? { blocks, pieces: pieces.map((piece, index) => trimBreaks(piece, index, blocks.length)) };
}

/** Whether a text opens a block of code without closing it, or the other way round. */
function togglesCode(piece: string): boolean {
  let fences = 0;
  for (let at = piece.indexOf('```'); at !== -1; at = piece.indexOf('```', at + 3)) {
    if (at === 0 || piece[at - 1] === '\n') fences++;
  }
  return fences % 2 === 1;
}

/** What is left over may hold other elements, but only whole ones, and no call that is written in another way. */
function faultInPiece(piece: string, hasBlocks: boolean): TextFault | undefined {
  let opened = 0;
  for (let at = piece.indexOf('<details'); at !== -1; ) {
    const next = piece.indexOf('<details', at + 1);
    const stretch = piece.slice(at, next === -1 ? piece.length : next);
    const tagEnd = stretch.indexOf('>');
    if (stretch.slice(0, tagEnd === -1 ? stretch.length : tagEnd).includes('tool_calls')) return 'damaged';
    opened++;
    at = next;
  }
  return hasBlocks && opened !== countOf(piece, '</details>') ? 'nested' : undefined;
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

/** A line break on either side belongs to the element. */
function trimBreaks(piece: string, index: number, blocks: number): string {
  const start = index > 0 && piece.startsWith('\n') ? 1 : 0;
  const end =
    index < blocks && piece.length > start && piece.endsWith('\n') ? piece.length - 1 : piece.length;
  return piece.slice(start, end);
}
