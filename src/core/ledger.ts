import { type Fact, type FactKind, factKinds } from './facts.ts';

/** Heading of the lines that bring back what a summary has lost. */
const HEADING = 'Kept word for word from the messages that stood here:';

/** A fact that stands in the summary itself. */
export interface FactAbove extends Fact {
  /** Where it begins. */
  readonly at: number;
}

/** What stands behind a summary. */
export interface Ledger {
  /** Facts that get a line. */
  readonly lines: readonly Fact[];
  /** Facts that the summary has: a note of where they stand is enough, so that the next summary need not keep them. */
  readonly above: readonly FactAbove[];
}

/** A summary, and the facts that stand behind it or that it was known to hold. */
export interface SummaryWithFacts {
  readonly summary: string;
  readonly facts: readonly Fact[];
}

const HEADING_LINE = new RegExp(`^${HEADING}$`, 'gm');

/** A summary of which no line reads like our heading, so that nothing but what we wrote is read back as a fact. */
export function withoutHeading(summary: string): string {
  return summary.replaceAll(HEADING_LINE, '> $&');
}

/** Writes the ledger behind a summary `withoutHeading`. */
export function withLedger(summary: string, { lines, above }: Ledger): string {
  if (lines.length === 0 && above.length === 0) return summary;
  const notes = factKinds.flatMap((kind) => {
    const stretches = stretchesOf(
      summary,
      above.filter((fact) => fact.kind === kind),
    );
    // Counted back from the heading: what is put before the summary later does not move them.
    const places = stretches.map(({ start, end }) => `${summary.length + 1 - start}+${end - start}`);
    return places.length === 0 ? [] : [`- [${kind}, above] ${places.join(' ')}`];
  });
  return [summary, '', HEADING, ...lines.map(ledgerLine), ...notes].join('\n');
}

/** What parts two facts of a list in a summary. */
const LIST_BREAK = '\n ';

/** Where facts stand: those that make up a list have one place. */
function stretchesOf(
  summary: string,
  facts: readonly FactAbove[],
): readonly { readonly start: number; readonly end: number }[] {
  const stretches: { start: number; end: number }[] = [];
  for (const { at, text } of facts.toSorted((left, right) => left.at - right.at)) {
    const last = stretches.at(-1);
    const isNext = last !== undefined && at === last.end + LIST_BREAK.length;
    if (isNext && summary.startsWith(LIST_BREAK, last.end)) last.end = at + text.length;
    else stretches.push({ start: at, end: at + text.length });
  }
  return stretches;
}

function ledgerLine({ kind, text }: Fact): string {
  return `- [${kind}] ${text}`;
}

/** What a line of a ledger adds to a summary. */
export function lineTokens(fact: Fact, countText: (text: string) => number): number {
  return countText(`\n${ledgerLine(fact)}`);
}

/** What the note of a place adds. */
export function placeTokens(_: Fact, countText: (text: string) => number): number {
  return countText(' 9999+99');
}

/** What the heading of a ledger adds, with a note for each of so many kinds. */
export function headingTokens(countText: (text: string) => number, kinds = 3): number {
  return countText(`\n\n${HEADING}`) + kinds * countText('\n- [constraint, above] 9999+999');
}

const BREAK = `\n${HEADING}\n`;

/** Parts a summary from the ledgers in it. Texts that were put around a summary later stay with it. */
export function readLedger(text: string): SummaryWithFacts {
  const facts: Fact[] = [];
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(BREAK); at !== -1; at = text.indexOf(BREAK, from)) {
    parts.push(text.slice(from, at).trim());
    from = readLines(text, at, facts);
  }
  if (from === 0) return { summary: text, facts };
  parts.push(text.slice(from).trim());
  return { summary: parts.filter((part) => part !== '').join('\n\n'), facts };
}

const LINE_START = /- \[([a-z-]{2,20})(, above)?\] /y;

/** Reads the lines of a ledger from its heading on; gives where they end. */
function readLines(text: string, heading: number, facts: Fact[]): number {
  let from = heading + BREAK.length;
  while (from < text.length) {
    LINE_START.lastIndex = from;
    const [start, name, isAbove] = LINE_START.exec(text) ?? [];
    const kind = factKinds.find((each) => each === name);
    if (start === undefined || kind === undefined) return from - 1;
    const newline = text.indexOf('\n', from);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(from + start.length, end);
    if (isAbove === undefined) facts.push({ kind, text: line });
    else facts.push(...readPlaces(text, heading, line, kind));
    from = end + 1;
  }
  return text.length;
}

function readPlaces(text: string, heading: number, places: string, kind: FactKind): readonly Fact[] {
  return places.split(' ').flatMap((place) => {
    const [back, length] = place.split('+').map(Number);
    const start = heading - (back ?? Number.NaN);
    const list = start >= 0 ? text.slice(start, start + (length ?? 0)).split(LIST_BREAK) : [];
    return list.flatMap((fact) => (fact === '' || fact.includes('\n') ? [] : [{ kind, text: fact }]));
  });
}
