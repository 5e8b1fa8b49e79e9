/** What a summarizer wrote, in the two places of a memory that take prose. */
export interface WrittenProse {
  /** Where things stand; empty where nothing was written about it. */
  readonly now: string;
  /** What happened, in order; empty only where nothing was written at all. */
  readonly story: string;
}

/** The line that a part begins with, however a model dresses it up: `NOW`, `## Now`, `**NOW:** and more`. */
const MARK = /^[#*_ ]{0,8}(now|story)[*_ ]{0,4}(?::[*_ ]{0,4}(.*))?$/is;

/**
 * Reads what `writeProse` has written. Total: a text without its form, by whomever, is all story. No line of the result
 * begins like a heading or the first line of a memory, so that nothing in it is read back as one.
 */
export function readProse(text: string): WrittenProse {
  const lines: Record<keyof WrittenProse, string[]> = { now: [], story: [] };
  const marked = new Set<keyof WrittenProse>();
  let part: keyof WrittenProse = 'story';
  for (const line of text.split('\n').map((each) => each.trimEnd())) {
    const mark = MARK.exec(line);
    const begun = mark?.[1]?.toLowerCase() === 'now' ? 'now' : 'story';
    // Behind the mark of the story no line is one: the story may tell of such lines.
    const isMark = mark !== null && !marked.has(begun) && !marked.has('story');
    if (isMark) marked.add(begun);
    if (isMark) part = begun;
    lines[part].push(isMark ? (mark[2] ?? '') : line);
  }
  const now = tidy(lines.now);
  const story = tidy(lines.story);
  // Prose takes the place of our own story: without any, nothing would tell what happened.
  return story === '' ? { now: '', story: now } : { now, story };
}

/** The one form in which prose is handed on. `readProse` reads it back. */
export function writeProse({ now, story }: WrittenProse): string {
  return now === '' ? `STORY\n${story}` : `NOW\n${now}\n\nSTORY\n${story}`;
}

/** Whether a text has at least one of the parts that were asked for. */
export function hasProseForm(text: string): boolean {
  return text.split('\n').some((line) => MARK.test(line.trimEnd()));
}

/** How headings and first lines of memories begin. */
const LIKE_OURS = /^(\s{0,100})(?=#{2,6} |Memory of \d)/;

/** Runs of blank lines become one, those around the text go, and what looks like a line of ours is quoted. */
function tidy(lines: readonly string[]): string {
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .map((line) => line.replace(LIKE_OURS, '$1> '))
    .join('\n')
    .replace(/^\n/, '')
    .trimEnd();
}

/** Behind the end of a sentence, and behind what closes it, unless it goes on after a quotation. */
const SENTENCE_END =
  /(?<=[.!?]\s{1,3})(?=\S)|(?<=[.!?]["”»’)*_`\]]{1,3}\s{1,3})(?![\s\p{Ll}])|(?<=[。！？]["”」』]{0,2})(?!["”」』]|$)/u;
const STRAIGHT = /"/g;

/**
 * The text with each sentence replaced by what `change` gives for it; undefined takes it out. A quotation is never cut in
 * two, and a text of which nothing changes stays the same.
 */
export function mapSentences(text: string, change: (sentence: string) => string | undefined): string {
  const lines = text.split('\n').map((line) => {
    const changed = sentencesOf(line).map(change);
    const isShorter = changed.includes(undefined);
    const left = changed.join('');
    // A bullet or a number whose sentence is gone says nothing.
    return isShorter && !/\p{L}/u.test(left) ? undefined : left;
  });
  return lines.filter((line) => line !== undefined).join('\n');
}

function sentencesOf(line: string): readonly string[] {
  const sentences: string[] = [];
  let open = '';
  let marks = 0;
  for (const part of line.split(SENTENCE_END)) {
    open += part;
    marks += part.match(STRAIGHT)?.length ?? 0;
    if (marks % 2 === 1) continue;
    sentences.push(open);
    open = '';
  }
  return open === '' ? sentences : [...sentences, open];
}
