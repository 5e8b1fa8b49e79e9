import { printableLines } from '../../conversation/printable.ts';
import { type CarriedMemory, type MemoryLine, type MemoryLineKind, memoryLines } from '../memory-lines.ts';
import { countOf } from '../terminal.ts';
import { constantMarkup, html, type Markup } from './markup.ts';
import { section, subsection } from './page.ts';

/** The memories of a conversation as the model reads them, under the headings of their parts; nothing without any. */
export function memorySection(memories: readonly CarriedMemory[]): Markup | undefined {
  if (memories.length === 0) return undefined;
  const parts = memories.flatMap(({ quoted, text }) => [...quoted.map(quotation), ...partsOf(text)]);
  return section('memory', 'The memory, as the model will read it', [
    html`<p>It stands in the conversation in place of the messages that were summarised.</p>`,
    ...parts.map(({ heading, content }, index) =>
      heading === undefined ? content : subsection(`memory-${index + 1}`, heading, [content]),
    ),
  ]);
}

/** Part of a memory. What stands before the first heading has none. */
interface Part {
  readonly heading: string | undefined;
  readonly content: Markup;
}

/** What is quoted may look like a memory, and is none. */
function quotation(text: string): Part {
  const words = html`<p dir="auto">${joined(text.split('\n'))}</p>`;
  return { heading: 'Quoted in front of it', content: html`<div class="quotation">${words}</div>` };
}

function partsOf(memory: string): readonly Part[] {
  const parts: { readonly heading: string | undefined; readonly lines: MemoryLine[] }[] = [];
  for (const line of memoryLines(memory)) {
    if (line.kind === 'heading') parts.push({ heading: line.text.replace('## ', ''), lines: [] });
    else if (parts.length === 0) parts.push({ heading: undefined, lines: [line] });
    else parts.at(-1)?.lines.push(line);
  }
  return parts.map(({ heading, lines }) => ({
    heading,
    content: html`<div class="memory">${stretchesOf(lines).map(stretchMarkup)}</div>`,
  }));
}

/** Neighbouring lines that are shown in one piece: those of a tool, of a file behind its name, or a single one. */
interface Stretch {
  readonly kind: MemoryLineKind;
  readonly lines: string[];
}

function stretchesOf(lines: readonly MemoryLine[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const { kind, text } of lines) {
    const last = stretches.at(-1);
    const goesOn = kind === 'output' ? last?.kind === 'output' : kind === 'code' && last?.kind === 'file';
    if (goesOn) last?.lines.push(text);
    else if (kind !== 'blank' && kind !== 'fence') stretches.push({ kind, lines: [text] });
  }
  return stretches;
}

function stretchMarkup({ kind, lines }: Stretch): Markup {
  const [first = '', ...rest] = lines;
  if (kind === 'file' && rest.length > 0) return fileMarkup(first, rest);
  if (kind === 'output') return html`<pre dir="auto">${LINE_END}${joined(lines.map(withoutIndent))}</pre>`;
  if (kind === 'more') return html`<p class="more" dir="auto">${printableLines(withoutIndent(first))}</p>`;
  const isTurn = /^\[\d{1,6}\]$/.test(first);
  return html`<p${isTurn ? html` class="turn"` : undefined} dir="auto">${printableLines(first)}</p>`;
}

/** A file of more lines is folded, so that what stands below it is found. */
const OPEN_LINES = 40;

function fileMarkup(name: string, lines: readonly string[]): Markup {
  const shown = printableLines(name);
  return html`
    <details${lines.length > OPEN_LINES ? undefined : html` open`}>
    <summary><bdi class="path">${shown}</bdi> <small>${countOf(lines.length, 'line')}</small></summary>
    <pre class="code" role="region" tabindex="0" aria-label="${shown}">${LINE_END}${joined(lines)}</pre>
    </details>`;
}

/** Lines that go on stand two blanks from the margin. */
function withoutIndent(line: string): string {
  return line.replace(/^ {2}/, '');
}

/** Browsers drop a line end right behind `<pre>`. This one is dropped instead of an empty first line of the text. */
const LINE_END = constantMarkup('\n');

function joined(lines: readonly string[]): Markup {
  const pieces = lines.map(
    (line, index) => html`${index === 0 ? undefined : LINE_END}${printableLines(line)}`,
  );
  return html`${pieces}`;
}
