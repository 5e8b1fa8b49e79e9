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
