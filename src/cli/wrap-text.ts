/** The text in lines of at most so many columns, broken between words; every line but the first behind `indent`. */
export function wrapText(text: string, columns: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const isFull = line !== '' && line.length + 1 + word.length > columns - indent.length;
    if (isFull) lines.push(line);
    line = line === '' || isFull ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${indent}`);
}
