/** Tags that models put their draft between. Only what follows the draft counts. */
const DRAFT_TAGS = ['analysis', 'think', 'thinking', 'reasoning', 'scratchpad'];
/** The tags that hold the answer. */
const OPENING_TAG = '<summary>';
const CLOSING_TAG = '</summary>';

/** What a model's answer comes to. */
export interface AnswerBody {
  /** The answer itself: without draft, tags, and whatever stands around the tags. */
  readonly text: string;
  /** Whether it stood between tags. */
  readonly isTagged: boolean;
  /** False when a tag was opened and never closed, so that the end is missing. */
  readonly isClosed: boolean;
}

/**
 * A summary as a person would read it: the draft removed, the `<summary>` tags replaced by a plain heading, runs of
 * blank lines collapsed to one, trimmed. What stands outside the tags is dropped. Text without tags passes through.
 */
export function formatSummary(text: string): string {
  const { text: body, isTagged } = answerBody(text);
  const tidy = collapseBlankLines(body);
  return isTagged && tidy !== '' ? `Summary:\n${tidy}` : tidy;
}

/** The answer inside a model's output. */
export function answerBody(text: string): AnswerBody {
  const undrafted = removeDrafts(text);
  const at = undrafted.indexOf(OPENING_TAG);
  if (at < 0) return { text: undrafted, isTagged: false, isClosed: true };
  const body = undrafted.slice(at + OPENING_TAG.length);
  // The first closing tag ends it: what comes after may be made up by the model, or put there by what it read.
  const end = body.indexOf(CLOSING_TAG);
  return { text: end < 0 ? body : body.slice(0, end), isTagged: true, isClosed: end >= 0 };
}

/**
 * Drafts stand in front. One inside the answer is part of what the answer tells. One that is never closed reaches up to
 * the answer's tag, or to the end.
 */
function removeDrafts(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const tag = DRAFT_TAGS.find((name) => rest.startsWith(`<${name}>`));
    if (tag === undefined) return rest;
    const end = rest.indexOf(`</${tag}>`);
    const answer = rest.indexOf(OPENING_TAG);
    const start = end >= 0 ? end + tag.length + 3 : answer >= 0 ? answer : rest.length;
    rest = rest.slice(start).trimStart();
  }
}

/** Runs of blank lines become one, blanks at the ends of lines go, and so does everything blank around the text. */
function collapseBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim();
}
