/** A page of the reference: where it is written, below `docs/reference`, and what it says. */
export interface Page {
  readonly path: string;
  readonly title: string;
  /** One line, for the list of pages. */
  readonly summary: string;
  readonly body: string;
}

/** A table whose cells may hold anything but line breaks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |\n`).join('');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();
}

/** Text between backticks. */
export function code(text: string): string {
  return text === '' ? '(empty)' : `\`${text}\``;
}

/** A fenced block. */
export function fence(text: string, language = ''): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`;
}

/** With a capital letter and a full stop. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const opened = `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}`;
  return /[.:!?]$/.test(opened) ? opened : `${opened}.`;
}
