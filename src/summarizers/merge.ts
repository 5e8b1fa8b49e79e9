import { readEntries, type SummaryEntry, type SummaryItem, toItemText } from './document.ts';
import { sectionOf } from './sections.ts';

/** The items of a summary that was written earlier, by this package or by anybody else. */
export function readItems(text: string): readonly SummaryItem[] {
  return mergeEntries([], readEntries(text));
}

/**
 * Carries a summary on. An item leaves only by being closed under its id; a change needs a text; whatever else the
 * entries say is added. Repetitions of what is there already are passed over. Order within a section is kept.
 */
export function mergeEntries(
  items: readonly SummaryItem[],
  entries: readonly SummaryEntry[],
): readonly SummaryItem[] {
  const known = new Map(items.map((item) => [item.id, item]));
  const texts = new Set(items.map(identityOf));
  const numbers = new Map<string, number>();
  // Numbers of items that are closed below are not given away again, so that an id means one thing per update.
  for (const { id } of items) noteNumber(numbers, id);

  for (const entry of entries) {
    const text = toItemText(entry.text);
    const old = entry.id === undefined ? undefined : known.get(entry.id);
    if (entry.action === 'close') {
      if (old !== undefined && known.delete(old.id)) texts.delete(identityOf(old));
      continue;
    }
    const isNew = text !== '' && !texts.has(identityOf({ ...entry, text }));
    if (!isNew) continue;
    const isChange = entry.action === 'change' && old !== undefined;
    const item = isChange ? { ...old, text } : { id: freeId(entry, numbers), section: entry.section, text };
    if (isChange) texts.delete(identityOf(old));
    known.set(item.id, item);
    texts.add(identityOf(item));
  }
  return [...known.values()];
}

function identityOf({ section, text }: Pick<SummaryItem, 'section' | 'text'>): string {
  return `${section}\n${text}`;
}

/** Higher numbers are a model's whim. Those counted up from here still have few enough digits to be read. */
const HIGHEST_GIVEN = 99_999;

/** The id the entry came with, if it fits its section and was never given away; else the next one of the section. */
function freeId({ id, section }: SummaryEntry, numbers: Map<string, number>): string {
  const { letter } = sectionOf(section);
  const next = (numbers.get(letter) ?? 0) + 1;
  const isFree = id?.startsWith(letter) === true && numberOf(id) >= next && numberOf(id) <= HIGHEST_GIVEN;
  const given = isFree && id !== undefined ? id : `${letter}${next}`;
  noteNumber(numbers, given);
  return given;
}

function noteNumber(numbers: Map<string, number>, id: string): void {
  const letter = id.slice(0, 1);
  numbers.set(letter, Math.max(numbers.get(letter) ?? 0, numberOf(id)));
}

function numberOf(id: string): number {
  return Number(id.slice(1));
}
