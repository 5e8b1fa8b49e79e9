import { escapeUnprintable } from '../core/printable.ts';

/** Text from a stranger for a terminal: line ends and tabs stay, and nothing else that a terminal would act upon. */
export function safeText(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeUnprintable(line.replaceAll('\t', '    ').replaceAll('\r', '')))
    .join('\n');
}
