import { type SectionName, sectionNamed, sectionOf, summarySections } from './sections.ts';
import { shorten } from './shorten.ts';

/** One point of a summary. */
export interface SummaryItem {
  /** The section's letter and a number: `C3`. */
  readonly id: string;
  readonly section: SectionName;
  /** One or more lines, none of them blank. */
  readonly text: string;
}

/** One line of a summary or of an update, with what is to be done. */
export interface SummaryEntry {
  readonly action: 'add' | 'change' | 'close';
  readonly id: string | undefined;
  readonly section: SectionName;
  readonly text: string;
}

const HEADING = /^(?:#{1,6} |\*\*|\d{1,2}[.)] )/;
const ENTRY = /^([-*+~x]) (?:\[([A-Z]\d{1,9})\](?: |$))?(.*)$/;

/**
 * Reads the points of a summary or an update. Sections are closed: what stands under an unknown heading or before the
 * first one is dropped, and so is loose text behind the points of a section. A text without any known heading is one
 * note.
 */
export function readEntries(text: string): readonly SummaryEntry[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  if (!hasSections(text)) return [...readNote(lines)];
  const reader = new EntryReader();
  for (const line of lines) reader.add(line);
  return reader.entries.map(({ lines: own, ...entry }) => ({ ...entry, text: own.join('\n') }));
}

/** Whether a text has at least one of the sections of a summary. */
export function hasSections(text: string): boolean {
  return text.split('\n').some((line) => HEADING.test(line) && sectionNamed(line.trimEnd()) !== undefined);
}

function readNote(lines: readonly string[]): readonly SummaryEntry[] {
  const text = toItemText(lines.join('\n'));
  return text === '' ? [] : [{ action: 'add', id: undefined, section: 'notes', text }];
}

interface OpenEntry extends Omit<SummaryEntry, 'text'> {
  readonly lines: string[];
}

/** Takes a summary line by line. */
class EntryReader {
  readonly entries: OpenEntry[] = [];
  private section: SectionName | undefined;
  private current: OpenEntry | undefined;
  private style: 'unknown' | 'points' | 'prose' = 'unknown';

  add(line: string): void {
    if (line === '') return;
    if (HEADING.test(line) && this.openSection(line)) return;
    if (this.section === undefined) return;
    const match = ENTRY.exec(line);
    if (match !== null) this.openEntry(match, this.section);
    else if (line.startsWith('  ')) this.current?.lines.push(line.slice(2));
    else this.addProse(line, this.section);
  }

  private openSection(line: string): boolean {
    const name = sectionNamed(line);
    if (name === undefined && !line.startsWith('#')) return false;
    this.section = name;
    this.current = undefined;
    this.style = 'unknown';
    return true;
  }

  private openEntry([, mark, id, text = '']: RegExpExecArray, section: SectionName): void {
    const action = mark === 'x' ? 'close' : mark === '~' ? 'change' : 'add';
    // Closing needs an id: nothing leaves because a model was vague.
    if (action === 'close' && id === undefined) this.current = undefined;
    else this.open({ action, id, section, lines: [text.trim()] });
    this.style = 'points';
  }

  private addProse(line: string, section: SectionName): void {
    if (this.style === 'points') {
      this.current = undefined;
      return;
    }
    if (this.style === 'prose') this.current?.lines.push(line);
    else this.open({ action: 'add', id: undefined, section, lines: [line.trim()] });
    this.style = 'prose';
  }

  private open(entry: OpenEntry): void {
    this.entries.push(entry);
    this.current = entry;
  }
}

/** The items as text, in the order of the sections. `readEntries` reads it back. */
export function writeItems(items: readonly SummaryItem[]): string {
  const parts = summarySections.map(({ name, heading }) => {
    const own = items.filter((item) => item.section === name);
    return own.length === 0 ? '' : [`## ${heading}`, ...own.map(writeItem)].join('\n');
  });
  return parts.filter((part) => part !== '').join('\n\n');
}

function writeItem({ id, text }: SummaryItem): string {
  return `- [${id}] ${text.split('\n').join('\n  ')}`;
}

/** Text as an item holds it: no blank lines, nothing blank around it. */
export function toItemText(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
    .trim();
}

/** Characters that stay of an item in sections that may shrink, from one attempt to the next. */
const ITEM_LIMITS = [2000, 1000, 500, 250, 120];

/**
 * The items, shortened as little as needed for `fits` to be content with them; undefined when even the shortest form
 * does not do. No item disappears, and intent and constraints stay whole.
 */
export function fitItems(
  items: readonly SummaryItem[],
  fits: (items: readonly SummaryItem[]) => boolean,
): readonly SummaryItem[] | undefined {
  if (fits(items)) return items;
  for (const limit of ITEM_LIMITS) {
    const shorter = items.map((item) =>
      sectionOf(item.section).shrinks ? { ...item, text: shorten(item.text, limit) } : item,
    );
    if (fits(shorter)) return shorter;
  }
  return undefined;
}
