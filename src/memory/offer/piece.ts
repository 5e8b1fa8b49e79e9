/** A whole clause, line or block that a memory may show. */
export interface Unit {
  readonly text: string;
  /** What each of its tokens is worth. */
  readonly worth: number;
  /** Whether it begins a line; otherwise it goes on behind the unit before it. */
  readonly startsLine: boolean;
  /** The unit of the same piece without which it makes no sense. */
  readonly needs?: number | undefined;
  /** The names in it, where whoever offers it has found them already. */
  readonly names?: Iterable<string> | undefined;
  /** The unit that holds it as a part: where that one is shown, this one is not. */
  readonly within?: number | undefined;
}

/** The parts of a memory, in their order. */
export const partNames = ['state', 'said', 'story', 'files'] as const;

export type PartName = (typeof partNames)[number];

/** Something that can be told at any length: the units that are chosen of it, in their order, behind its head. */
export interface Piece {
  readonly part: PartName;
  /** Its place in the part, in the order of events. */
  readonly place: number;
  /** Shown when any unit is. */
  readonly head: string;
  readonly units: readonly Unit[];
  /** The page on which it can be read again, by its label (`B12`). */
  readonly page?: string | undefined;
  /** The number of the user's message under which it happened. */
  readonly turn: number;
}

/** The smallest piece of a text that a memory may show by itself: a sentence, an item of a list, a row, a piece of code. */
export interface TextUnit {
  readonly text: string;
  /** Whether it begins a line; otherwise it goes on behind the unit before it. */
  readonly startsLine: boolean;
  /** The unit without which it makes no sense: the line that leads a list, the head of a table, its own first sentence. */
  readonly needs: number | undefined;
  /** Whether it only leads what follows: a heading, a line that ends with a colon. */
  readonly leads: boolean;
}

const FENCE = /^\s{0,8}(?:```|~~~)/;
const ITEM = /^\s{0,40}(?:[-*•+]|\d{1,3}[.)])\s/;
const HEADING = /^\s{0,3}#{1,6}\s/;
const RULE = /^[\s|:*_=-]{1,400}$/;
const LONGEST_ITEM = 320;
const LONGEST_CODE_LINES = 16;

/** Parts a text into its units, in order. Linear in its length. */
export function unitsOf(text: string): readonly TextUnit[] {
  const reader = new UnitReader();
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (!FENCE.test(line)) {
      reader.addLine(line);
      continue;
    }
    const end = closingFence(lines, index);
    reader.addCode(lines.slice(index, end + 1));
    index = end;
  }
  return reader.units;
}

function closingFence(lines: readonly string[], open: number): number {
  for (let index = open + 1; index < lines.length; index++) if (FENCE.test(lines[index] ?? '')) return index;
  return lines.length - 1;
}

class UnitReader {
  readonly units: TextUnit[] = [];
  /** The heading or colon line that leads what comes now. */
  private lead: number | undefined;
  private tableHead: number | undefined;

  addLine(line: string): void {
    const trimmed = line.trim();
    if (trimmed === '') this.tableHead = undefined;
    else if (trimmed.startsWith('|')) this.addRow(trimmed);
    else if (RULE.test(trimmed)) return;
    else if (HEADING.test(line)) this.lead = this.push({ text: trimmed, startsLine: true, leads: true });
    else if (ITEM.test(line)) this.addSentences(line.trimEnd(), LONGEST_ITEM, this.lead);
    else this.addParagraph(trimmed);
  }

  addCode(lines: readonly string[]): void {
    const shown =
      lines.length > LONGEST_CODE_LINES ? [...lines.slice(0, LONGEST_CODE_LINES - 2), '…', '```'] : lines;
    this.push({ text: shown.join('\n'), startsLine: true, needs: this.lead ?? this.last() });
  }

  private addRow(row: string): void {
    if (RULE.test(row)) return;
    const index = this.push({
      text: row,
      startsLine: true,
      needs: this.tableHead ?? this.lead,
      leads: this.tableHead === undefined,
    });
    this.tableHead ??= index;
  }

  private addParagraph(line: string): void {
    const isIndented = this.units.length > 0 && line.length === 0;
    const isLead = /[:：]\**$/.test(line);
    const first = this.units.length;
    this.addSentences(line, isIndented ? LONGEST_ITEM : 0, undefined);
    const last = this.units.length - 1;
    const unit = this.units[last];
    if (isLead && unit !== undefined && last >= first) this.units[last] = { ...unit, leads: true };
    this.lead = isLead ? last : undefined;
  }

  /** Sentences of a line; a line up to `whole` characters is one. */
  private addSentences(line: string, whole: number, lead: number | undefined): void {
    const sentences = line.length <= whole ? [line] : sentencesOf(line);
    const first = this.units.length;
    for (const [index, text] of sentences.entries()) {
      const needs = index === 0 ? lead : ITEM.test(line) ? first : undefined;
      this.push({ text, startsLine: index === 0, needs });
    }
  }

  private push(unit: Partial<TextUnit> & Pick<TextUnit, 'text' | 'startsLine'>): number {
    this.units.push({ needs: undefined, leads: false, ...unit });
    return this.units.length - 1;
  }

  private last(): number | undefined {
    return this.units.length === 0 ? undefined : this.units.length - 1;
  }
}

const WIDE_END = '。！？';
const END = '.!?';
/** Words before a full stop that ends no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|no|fig|approx|incl|z\.B|bzw|\p{L}|\d{1,3})\.$/iu;
const SHORTEST_SENTENCE = 12;

/** The sentences of one line, each without white space around it. Very short ones stay with what follows. */
function sentencesOf(line: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  for (let index = 0; index < line.length; index++) {
    const sign = line.charAt(index);
    const isEnd =
      WIDE_END.includes(sign) ||
      (END.includes(sign) &&
        isSpaceOrEnd(line, index + 1) &&
        !ABBREVIATION.test(line.slice(Math.max(start, index - 8), index + 1)));
    if (!isEnd || index + 1 - start < SHORTEST_SENTENCE) continue;
    sentences.push(line.slice(start, index + 1).trim());
    start = index + 1;
  }
  const rest = line.slice(start).trimEnd();
  if (rest.trim() !== '') sentences.push(start === 0 ? rest : rest.trim());
  return sentences;
}

function isSpaceOrEnd(line: string, index: number): boolean {
  return index >= line.length || line.charAt(index) === ' ' || line.charAt(index) === '\t';
}
