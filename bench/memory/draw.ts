/** Lines of cells under each other, for a terminal. */

/** Draws cells to the right of their columns; a heading takes as many lines as its words need. */
export function drawTable(headings: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(
      ...heading.split(' ').map(({ length }) => length),
      ...lines.map((cells) => cells[column]?.length ?? 0),
    ),
  );
  const wrapped = headings.map((heading, column) => wrap(heading, widths[column] ?? 0));
  const height = Math.max(...wrapped.map(({ length }) => length));
  const head = Array.from({ length: height }, (_, line) => wrapped.map((words) => words[line] ?? ''));
  return [...head, ...lines]
    .map((cells) => cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join(' | '))
    .join('\n');
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trimStart();
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
