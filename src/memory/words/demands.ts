import { isDemand, isLongEnough, LONGEST } from './demanding-words.ts';

/** A sentence, or a list with the line that leads it, exactly as it was written. */
export interface Piece {
  readonly text: string;
  /** The line that leads the list that it is an item of; undefined where it stands by itself, or holds that line. */
  readonly lead: string | undefined;
  /** The line that leads it, where it is a whole list. */
  readonly ownLead: string | undefined;
}

/**
 * The sentences by which the user demands or forbids something, exactly as they were written: each is a piece of one line.
 * Questions and statements are none, whatever words they hold.
 * @param words what the user wrote, without what others did: see `ownWords`
 */
export function demandsOf(words: string): readonly string[] {
  return piecesOf(words).filter(isDemandPiece).flatMap(linesOf);
}

/** Whether a piece demands something: a sentence by its own words, a list and its items also by the line that leads them. */
export function isDemandPiece({ text, lead, ownLead }: Piece): boolean {
  if (ownLead !== undefined && leadsDemands(ownLead)) return true;
  return (
    (ownLead === undefined && isDemand(text)) ||
    (lead !== undefined && leadsDemands(lead) && isLongEnough(text))
  );
}

/** The first sentence of a text; empty when there is none. */
export function firstSentence(words: string): string {
  const text = words.trimStart();
  return text.slice(0, sentenceEnd(text, 0, lineEnd(text, 0))).trim();
}

/** Ends of sentences on lines of fewer characters name nothing by themselves. */
const SHORTEST_REST = 30;

function linesOf({ text, ownLead }: Piece): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  if (lines.length === 1) return lines;
  if (ownLead === undefined)
    return lines.filter((line, index) => index === 0 || line.length >= SHORTEST_REST);
  // A label such as "Rules:" demands nothing by itself.
  return lines.filter((line, index) => line !== '' && (index > 0 || isLongEnough(line)));
}

/** The label of rules, in whose list every item is one. */
const RULES =
  /^[#*\s]{0,8}(?:[\p{L}-]+ ){0,3}(?:rules?|constraints?|requirements?|restrictions?|guidelines|conventions|preferences|don['’]?ts|do not|never|always|must(?: not)?|regeln|reglas|règles|规则|要求|ルール)\**(?:\s[–—-][^:]{0,40})?\s?[:：]|\bexactly\s?[:：]/iu;

function leadsDemands(lead: string): boolean {
  return RULES.test(lead) || isDemand(lead);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A line as it was meant: with the lines behind it on which it goes on, where a margin has broken it. */
interface Line extends Span {
  readonly indent: number;
  readonly isItem: boolean;
  readonly isBlank: boolean;
}

const ITEM = /^\s{0,40}(?:[-*+•]|\d{1,3}[.)]|[a-zA-Z][.)])\s/;
const LEADING = /[:：][*_]{0,3}\s*$/;
const CONTINUING = /^\s{0,40}[\p{Ll}`]/u;
const COMPLETE = /[.!?:;,。！？：；…]["”’)*_\]]{0,3}\s*$/u;
/** Shorter lines are ended by whoever writes them, not by a margin. */
const SHORTEST_WRAPPED = 60;

/** Parts a text into its sentences, and into lists with the lines that lead them, in order. Linear in its length. */
export function piecesOf(text: string): readonly Piece[] {
  return piecesIn(text, linesIn(text), undefined);
}

/** The pieces of these lines, which are items of a list where a line leads them. */
function piecesIn(text: string, lines: readonly Line[], outer: string | undefined): readonly Piece[] {
  // Arrays of arrays, since a text may have more sentences than a call may have arguments.
  const pieces: (readonly Piece[])[] = [];
  for (let index = 0; index < lines.length; ) {
    const sentences = sentencesIn(text, lines[index] ?? { start: 0, end: 0 });
    const items = itemsBehind(text, lines, index);
    const lead = items.length === 0 ? undefined : sentences.at(-1);
    pieces.push(toPieces(text, lead === undefined ? sentences : sentences.slice(0, -1), outer));
    if (lead !== undefined) pieces.push(listPieces(text, lead, items, outer));
    index += 1 + items.length;
  }
  return pieces.flat();
}

function toPieces(text: string, spans: readonly Span[], lead: string | undefined): readonly Piece[] {
  return spans.map(({ start, end }) => ({ text: text.slice(start, end), lead, ownLead: undefined }));
}

/** A list as one piece, unless it is long, or holds demands among other things: then item by item. */
function listPieces(
  text: string,
  leadSpan: Span,
  items: readonly Line[],
  outer: string | undefined,
): readonly Piece[] {
  const lead = text.slice(leadSpan.start, leadSpan.end);
  const whole = text.slice(leadSpan.start, items.at(-1)?.end).trimEnd();
  const isMixed = () =>
    !leadsDemands(lead) && demandsOf(text.slice(leadSpan.end, items.at(-1)?.end)).length > 0;
  if (whole.length <= LONGEST && !isMixed()) return [{ text: whole, lead: outer, ownLead: lead }];
  return [...toPieces(text, [leadSpan], outer), ...piecesIn(text, items, lead)];
}

/** The items of the list that this line leads, with the lines within them and between them. */
function itemsBehind(text: string, lines: readonly Line[], index: number): readonly Line[] {
  const lead = lines[index];
  if (lead === undefined || !LEADING.test(text.slice(Math.max(lead.start, lead.end - 10), lead.end)))
    return [];
  const first = lines[index + 1]?.isBlank === true ? index + 2 : index + 1;
  const opening = lines[first];
  if (opening?.isItem !== true || (lead.isItem && opening.indent <= lead.indent)) return [];
  let end = index + 1;
  for (let next = first; next < lines.length; next++) {
    const line = lines[next];
    if (line === undefined || line.isBlank) continue;
    if (line.isItem ? line.indent < opening.indent : line.indent <= opening.indent) break;
    end = next + 1;
  }
  return lines.slice(index + 1, end);
}

function linesIn(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    let end = lineEnd(text, start);
    while (isWrapped(text, start, end)) end = lineEnd(text, end + 1);
    const beginning = text.slice(start, Math.min(end, start + 60));
    const indent = beginning.length - beginning.trimStart().length;
    lines.push({
      start,
      end,
      indent,
      isItem: ITEM.test(beginning),
      isBlank: text.slice(start, end).trim() === '',
    });
    start = end + 1;
  }
  return lines;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

/** Whether the last line of this stretch was broken by a margin, and the sentence goes on below. */
function isWrapped(text: string, start: number, end: number): boolean {
  const from = Math.max(start, text.lastIndexOf('\n', end - 1) + 1);
  if (
    end >= text.length ||
    end - from < SHORTEST_WRAPPED ||
    COMPLETE.test(text.slice(Math.max(from, end - 10), end))
  )
    return false;
  const next = text.slice(end + 1, end + 60);
  return CONTINUING.test(next) && !ITEM.test(next);
}

function sentencesIn(text: string, { start, end }: Span): readonly Span[] {
  const spans: (readonly Span[])[] = [];
  for (let from = start; from < end; ) {
    const to = sentenceEnd(text, from, end);
    spans.push(shortSpans(text, from, to));
    from = to;
  }
  return spans.flat();
}

/** Run-on sentences are parted where they have a mark, or else a space. */
function shortSpans(text: string, from: number, to: number): readonly Span[] {
  const spans: Span[] = [];
  let rest = trimSpan(text, from, to);
  while (rest.end - rest.start > LONGEST) {
    const window = text.slice(rest.start, rest.start + LONGEST);
    const mark = Math.max(...RUN_ON_MARKS.map((each) => window.lastIndexOf(each)));
    const cut = mark > LONGEST / 4 ? mark : window.lastIndexOf(' ');
    if (cut <= 0) break;
    spans.push(trimSpan(text, rest.start, rest.start + cut + 1));
    rest = trimSpan(text, rest.start + cut + 1, rest.end);
  }
  return rest.end > rest.start ? [...spans, rest] : spans;
}

const RUN_ON_MARKS = [' - ', '; ', '；', ', ', '，'];

function trimSpan(text: string, from: number, to: number): Span {
  const piece = text.slice(from, to);
  const start = from + piece.length - piece.trimStart().length;
  return { start, end: Math.max(start, from + piece.trimEnd().length) };
}

const codesOf = (marks: string) => new Set([...marks].map((mark) => mark.charCodeAt(0)));
const MARKS = codesOf('.!?');
/** Marks of scripts in which no space parts sentences. */
const WIDE_MARKS = codesOf('。！？');
const CLOSING = codesOf('"\'”’)*_]');
const SPACES = codesOf(' \t\r\n');
/** What has a full stop behind it and does not end a sentence: the number of an item, a word cut short. */
const ABBREVIATED =
  /^\s*(?:\d{1,3}|[a-zA-Z])\.\s|(?:^|[\s(])(?:(?:e\.g|i\.e|vs|cf|ca|approx|bzw|z\.B|d\.h|Mr|Mrs|Dr|St|p\.ej)\.\s|etc\.\s\p{Ll})/u;

/** Sentences end at an end mark before a space, and behind a wide one. */
function sentenceEnd(text: string, from: number, end: number): number {
  for (let index = from; index < end; index++) {
    const code = text.charCodeAt(index);
    if (WIDE_MARKS.has(code)) return index + 1;
    if (!SPACES.has(code) || index === from) continue;
    let last = index - 1;
    while (last > from && last > index - 4 && CLOSING.has(text.charCodeAt(last))) last--;
    if (!MARKS.has(text.charCodeAt(last))) continue;
    if (!ABBREVIATED.test(text.slice(Math.max(from, index - 12), index + 2))) return index;
  }
  return end;
}
