/** A label on a line of its own behind which sources are quoted that were retrieved for the user. */
const SOURCES_LABEL =
  /^[#*\s]{0,8}(?:search results?|retrieved (?:documents?|context|sources?|passages?)|(?:relevant |provided )?(?:documents|sources|excerpts|passages)|context information is below\.?)\s?:?\**:?$/i;
/** The same, where people also give labels to what they write themselves. */
const ATTACHED_LABEL =
  /^[#*\s]{0,8}(?:context|issue|output|errors?|logs?|stack ?trace|stdout|stderr|response|transcript)\s?:\**$/i;
/** A label behind which the user speaks. */
const OWN_LABEL =
  /^[#*\s]{0,8}(?:(?:user|my|the|your) )?(?:question|query|task|request|instructions?|rules?|requirements?|constraints?|user|human)\s?\**:/i;
/** The label of the one thing that a template asks when it has quoted its sources. */
const QUESTION_LABEL = /question|query/i;
/** A line that parts what others wrote from the words before and behind it. */
const RULE = /^(?:-{8,}|={8,}|_{8,}|\*{8,}|~{8,}|#{8,})$/;

/** The stretches of these lines in which others speak, by the labels and rules around them. In order, and apart. */
export function labelledLines(lines: readonly string[]): readonly Stretch[] {
  const surroundings = surroundingsOf(lines);
  const stretches: Stretch[] = [];
  for (let index = 0; index < lines.length; index++) {
    const end = endOfOthers(lines, index, surroundings);
    if (end === undefined) continue;
    stretches.push({ start: index, end });
    index = end - 1;
  }
  return stretches;
}

interface Surroundings {
  /** Lines with a label of the user's, in order. */
  readonly ownLabels: readonly number[];
  /** The last line with each rule. */
  readonly lastRules: ReadonlyMap<string, number>;
}

function surroundingsOf(lines: readonly string[]): Surroundings {
  const ownLabels: number[] = [];
  const lastRules = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    if (OWN_LABEL.test(line)) ownLabels.push(index);
    else if (RULE.test(line.trimEnd())) lastRules.set(line.trimEnd(), index);
  }
  return { ownLabels, lastRules };
}

/** Where others stop speaking who begin on this line; undefined where nobody begins. */
function endOfOthers(
  lines: readonly string[],
  index: number,
  { ownLabels, lastRules }: Surroundings,
): number | undefined {
  const line = lines[index]?.trimEnd() ?? '';
  const isSources = SOURCES_LABEL.test(line);
  if (isSources || ATTACHED_LABEL.test(line)) {
    const last = ownLabels.at(-1) ?? -1;
    // What was retrieved may have labels of its own: the last one is that of the template.
    const isTemplate = isSources || QUESTION_LABEL.test(lines[last] ?? '');
    const own = isTemplate ? last : (firstBehind(ownLabels, index) ?? -1);
    return own > index ? own : paragraphEnd(lines, index);
  }
  const closing = lastRules.get(line) ?? -1;
  const isIntroduced = /[:.]\s*$/.test(lines[index - 1] ?? '');
  return isIntroduced && closing > index ? closing + 1 : undefined;
}

function firstBehind(places: readonly number[], index: number): number | undefined {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) > index) high = middle;
    else low = middle + 1;
  }
  return places[low];
}

/** Where the paragraph ends that a label opens; one empty line may stand below the label. */
function paragraphEnd(lines: readonly string[], label: number): number {
  let end = label + 1;
  while (end < lines.length && lines[end]?.trim() === '') end++;
  while (end < lines.length && lines[end]?.trim() !== '') end++;
  return end;
}

/** A line as a machine writes it, wherever it stands: a frame of a stack, an error, a log, a listing, a prompt, a diff. */
const MACHINE_LINES: readonly RegExp[] = [
  // Stacks and errors
  /^\s+at \S.{0,300}[:(]/,
  /^\s*File ".{1,300}", line \d/,
  /^\s*(?:Traceback \(|Caused by: |goroutine \d|thread '.{1,80}' panicked|panic: )/,
  /^(?:Uncaught |Unhandled )?[\w.]{0,80}(?:Error|Exception|Warning|Fault)(?: \[[\w-]{1,40}\])?(?:\(.{0,80}\))?: /,
  /^\s*(?:error|fatal|warning|npm ERR!|ERR!|E {2,}|FAIL|✖|✗|×)(?:\[\w{1,20}\])?(?::| )\s*\S*(?:[:/\\(=\d]|$)/,
  /^(?:error|fatal|Error|FATAL|ERROR): /,
  // Logs
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*\[?\d\d:\d\d:\d\d\b/,
  /^\s*\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]?[\s:[]/,
  // What a terminal shows
  /^\s*(?:\$|➜|❯|>>>|PS [A-Z]:\S{0,200}>) \S/,
  /^[\w.-]{1,60}@[\w.-]{1,60}[: ]\S{0,200}\s?[$#%] /,
  /[│├└┌┐┘┬┴┼║╔╚╠]|[─═]{3}/,
  /^[-dlcbps](?:[r-][w-][xsStT-]){3}/,
  /^\s*\[\w{1,40}(?::\w{1,40}){1,3}\] /,
  // Diffs
  /^(?:diff --git |index [0-9a-f]{6,}\.\.|@@ -\d|(?:---|\+\+\+) [ab]\/|[+-]\d+ {1,4}\S)/,
  /^[+-] {0,4}\d{1,6}\s/,
  /^\s*\|.{1,600}\|\s*$/,
  // Code, data and listings with line numbers
  /^\s*\d{1,6}(?::|→|\t| \|).{0,400}(?:[{}()=;[\]<>"']|$)/,
  /^\s*(?:\/\/|\/\*|\*\/|<!--|#!\/|#include\b)/,
  /^\s*(?:import|export|from|const|let|var|function|class|def|return|public|private|package|func|fn|async|await|raise|throw)\s.{0,300}[{}()=;:*'"]/,
  /^\s*(?:if|for|while|switch|catch|elif|else if)\b\s?.{0,300}[({:]\s*$/,
  /^\s*["'][^"']{1,120}["']\s*:/,
  /^\s*[{}[\]()]{1,6}[,;]?\s*$/,
  /[{}]\s*$|(?:\)|[\w\])'"] ?= ?.{0,300});\s*$|=>\s*$/,
  /^\s*\{".{0,400}"/,
];

const DIFF_OPENING = /^(?:diff --git |@@ -\d)/;
const DIFF_LINE = /^(?:[+\- \\]|index |@@ |diff |$)/;
const FENCE = /^\s{0,12}(?:`{3,}|~{3,})/;
const QUOTED = /^\s{0,3}>/;
const LIST_MARK = /^\s*(?:[-*+•]|\d{1,3}[.)])\s/;
const INDENTED = /^(?: {4}|\t)/;
/** How many characters of a line are looked at. */
const READ_CHARACTERS = 1000;

/** Whether each of these lines was pasted or quoted: fenced, quoted, or as a machine writes it, with what stands between. */
export function pastedLines(lines: readonly string[]): readonly boolean[] {
  const pasted = lines.map(() => false);
  markFences(lines, pasted);
  const paragraph: number[] = [];
  const endParagraph = () => {
    closeGaps(paragraph, pasted);
    paragraph.length = 0;
  };
  let isDiff = false;
  let isInList = false;
  for (const [index, line] of lines.entries()) {
    if (pasted[index] === true) {
      endParagraph();
      continue;
    }
    isDiff = DIFF_OPENING.test(line) || (isDiff && DIFF_LINE.test(line) && line !== '');
    const isBlank = line.trim() === '';
    if (!isBlank && !INDENTED.test(line)) isInList = LIST_MARK.test(line);
    const isCode =
      INDENTED.test(line) && !isInList && !LIST_MARK.test(line) && opensCode(lines, pasted, index);
    pasted[index] = !isBlank && (isDiff || isCode || QUOTED.test(line) || isMachineLine(line));
    if (isBlank) endParagraph();
    else paragraph.push(index);
  }
  endParagraph();
  return pasted;
}

function isMachineLine(line: string): boolean {
  const beginning = line.slice(0, READ_CHARACTERS);
  return MACHINE_LINES.some((shape) => shape.test(beginning));
}

/** Whether an indented line may be code: behind an empty line or behind code, not within a sentence. */
function opensCode(lines: readonly string[], pasted: readonly boolean[], index: number): boolean {
  return index === 0 || lines[index - 1]?.trim() === '' || pasted[index - 1] === true;
}

/** Fences come in pairs. One that is never closed hides nothing but itself. */
function markFences(lines: readonly string[], pasted: boolean[]): void {
  let opened: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (!FENCE.test(line)) continue;
    pasted[index] = true;
    if (opened === undefined) opened = index;
    else {
      pasted.fill(true, opened, index);
      opened = undefined;
    }
  }
}

/** Within a paragraph, what stands between pasted lines was pasted too, unless most of it reads otherwise. */
function closeGaps(paragraph: readonly number[], pasted: boolean[]): void {
  const first = paragraph.findIndex((index) => pasted[index] === true);
  if (first === -1) return;
  const last = paragraph.findLastIndex((index) => pasted[index] === true);
  const between = paragraph.slice(first, last + 1);
  const known = between.filter((index) => pasted[index] === true).length;
  if (2 * known >= between.length) for (const index of between) pasted[index] = true;
}

/** A stretch of a text, from `start` up to `end`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** What tags do to a text. */
export interface Wrapping {
  /** Passages that somebody else wrote, with the tags around them, in order. */
  readonly passages: readonly Stretch[];
  /** Tags that are left out by themselves: the words between them are the user's. */
  readonly marks: readonly Stretch[];
}

/** An opening or closing tag, with attributes. Both counts are bounded, so that no text makes the search slow. */
const TAG = /<(\/?)([A-Za-z][\w:.-]{0,60})(\s[^<>]{0,1000})?>/g;

/**
 * Beginnings of the tags in which harnesses put what the user did not write. They count wherever they stand, in the middle of
 * a line too.
 */
const HARNESS_NAME =
  /^(?:system-|local-command-|command-(?!args)|bash-|task-|ide_|subagent_|environment_|user_instr|user-prompt-|uploaded_|skill|turn_|INSTR|permissions|collaboration_)/;

/** Tags that say that the user speaks, or by which people put their own rules in order. */
const OWN_NAME =
  /^(?:(?:user|human|my)(?:[_-](?:query|message|request|input|question|prompt|text|task))?|task|query|question|request|prompt|goals?|objectives?|instructions?|rules?|constraints?|requirements?|guidelines?|feedback|command-args|important|critical|notes?)$/i;

/** Tags that give words a look, and say nothing of who wrote them. */
const LOOK_NAME =
  /^(?:b|i|u|s|em|strong|mark|big|small|font|span|center|p|br|hr|li|ul|ol|sub|sup|kbd|h[1-6])$/i;

/** Nobody writes more into one text. What stands behind them counts as the user's, so that nothing is missed. */
const MOST_TAGS = 10_000;

interface Tag extends Stretch {
  readonly name: string;
  readonly isClosing: boolean;
  /** Whether nothing but white space or another tag stands before it on its line. */
  readonly isAtStart: boolean;
}

/**
 * Finds what tags wrap. A pair of tags around whole lines holds what somebody else wrote (a document, a source, what a
 * harness adds), unless its name says that the user speaks. Tags within a line are part of what the user says.
 */
export function readWrapping(text: string): Wrapping {
  const tags = tagsIn(text);
  const ends = endsOf(tags);
  const passages: Stretch[] = [];
  const marks: Stretch[] = [];
  let at = 0;
  for (const tag of tags) {
    if (tag.start < at) continue;
    const end = tag.isClosing ? undefined : ends.get(tag);
    if (end !== undefined && isForeign(text, tag, end)) {
      passages.push({ start: tag.start, end: end.end });
      at = end.end;
    } else if (
      HARNESS_NAME.test(tag.name) ||
      (OWN_NAME.test(tag.name) && (tag.isClosing || end !== undefined))
    )
      marks.push(tag);
  }
  return { passages, marks };
}

function isForeign(text: string, opening: Tag, closing: Tag): boolean {
  if (HARNESS_NAME.test(opening.name)) return true;
  if (OWN_NAME.test(opening.name) || LOOK_NAME.test(opening.name) || !opening.isAtStart) return false;
  const newline = text.indexOf('\n', opening.end);
  return (newline !== -1 && newline < closing.start) || endsLine(text, closing.end);
}

/** Whether nothing but white space or another tag follows on the line. */
function endsLine(text: string, from: number): boolean {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++;
  return at >= text.length || text[at] === '\n' || text[at] === '<';
}

function tagsIn(text: string): readonly Tag[] {
  const tags: Tag[] = [];
  if (!text.includes('<')) return tags;
  let lastEnd = 0;
  for (const { 0: tag, 1: slash, 2: name = '', index } of text.matchAll(TAG)) {
    let before = index;
    while (before > lastEnd && (text[before - 1] === ' ' || text[before - 1] === '\t')) before--;
    const isBehindTag = before === lastEnd && lastEnd > 0 && tags.at(-1)?.isAtStart === true;
    const isAtStart = before === 0 || text[before - 1] === '\n' || isBehindTag;
    lastEnd = index + tag.length;
    tags.push({ name, isClosing: slash === '/', start: index, end: lastEnd, isAtStart });
    if (tags.length === MOST_TAGS) break;
  }
  return tags;
}

interface OpenPair {
  readonly opening: Tag;
  depth: number;
}

/**
 * The closing tag of each outermost opening tag. Closing tags that nothing opened belong to the pair before them: a document
 * that closes the tag around it does not get out of it.
 */
function endsOf(tags: readonly Tag[]): ReadonlyMap<Tag, Tag> {
  const ends = new Map<Tag, Tag>();
  const openByName = new Map<string, OpenPair>();
  for (const tag of tags) {
    const open = openByName.get(tag.name);
    if (tag.isClosing) {
      if (open === undefined) continue;
      open.depth = Math.max(0, open.depth - 1);
      if (open.depth === 0) ends.set(open.opening, tag);
    } else if (open === undefined || open.depth === 0) openByName.set(tag.name, { opening: tag, depth: 1 });
    else open.depth++;
  }
  return ends;
}
