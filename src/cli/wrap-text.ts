import { characterWidth } from '../chat/input/screen-lines.ts';

/** The text in lines of at most so many columns, broken between words; every line but the first behind `indent`. */
export function wrapText(text: string, columns: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const word of text.split(' ')) {
    const wordWidth = widthOf(word);
    const isFull = line !== '' && width + 1 + wordWidth > columns - indent.length;
    if (isFull) lines.push(line);
    const isFirst = line === '' || isFull;
    line = isFirst ? word : `${line} ${word}`;
    width = isFirst ? wordWidth : width + 1 + wordWidth;
  }
  return [...lines, line].join(`\n${indent}`);
}

/** Columns that a text takes on a screen. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}
