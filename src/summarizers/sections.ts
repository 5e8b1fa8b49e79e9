/** One part of a summary. A summary has these and no others; another one is another row. */
export interface SummarySection {
  readonly name: SectionName;
  /** First character of the ids of its items. */
  readonly letter: string;
  readonly heading: string;
  /** What the model is asked to write there; undefined for a section that is never asked for. */
  readonly asks: string | undefined;
  /**
   * Which words count as the user's own, and have to be found in what the user wrote: the whole item, what stands in
   * quotation marks, or what stands in quotation marks in an item that speaks of the user.
   */
  readonly checks: 'whole' | 'quoted' | 'attributed';
  /** Whether its items may be shortened when a summary that was carried on gets too long. */
  readonly shrinks: boolean;
}

export type SectionName =
  | 'intent'
  | 'constraints'
  | 'user-messages'
  | 'files'
  | 'commands'
  | 'errors'
  | 'decisions'
  | 'open-work'
  | 'next-step'
  | 'notes';

/** Where a text goes that has no sections: from a model that does not follow the form, or another summarizer. */
const notes: SummarySection = {
  name: 'notes',
  letter: 'G',
  heading: 'Notes',
  asks: undefined,
  checks: 'attributed',
  shrinks: true,
};

/** In the order in which they stand in a summary. */
export const summarySections: readonly SummarySection[] = [
  {
    name: 'intent',
    letter: 'I',
    heading: 'Intent',
    asks: 'what the user wants in the end, and what counts as done',
    checks: 'quoted',
    shrinks: false,
  },
  {
    name: 'constraints',
    letter: 'C',
    heading: 'Constraints',
    asks: "every rule, limit, preference and prohibition that still holds. The user's own in the user's exact words and in double quotes; rules that come from files without quotation marks, with the file's name. Security rules first",
    checks: 'quoted',
    shrinks: false,
  },
  {
    name: 'user-messages',
    letter: 'U',
    heading: 'User messages',
    asks: 'every message of the user that is no tool result, in order and in the exact words, in double quotes; of a long one the beginning and the end with … between them',
    checks: 'whole',
    shrinks: true,
  },
  {
    name: 'files',
    letter: 'F',
    heading: 'Files',
    asks: 'each file that was read, written or is still needed: its full path, why it matters, what was changed in it, and the few lines of code that the next step depends on',
    checks: 'attributed',
    shrinks: true,
  },
  {
    name: 'commands',
    letter: 'R',
    heading: 'Commands and results',
    asks: 'commands that matter, as they were typed, with what they showed; ids, addresses, ports and numbers that came out of them',
    checks: 'attributed',
    shrinks: true,
  },
  {
    name: 'errors',
    letter: 'E',
    heading: 'Errors and fixes',
    asks: "each error in its exact words, its cause, and what cured it or did not; the user's corrections too",
    checks: 'attributed',
    shrinks: true,
  },
  {
    name: 'decisions',
    letter: 'D',
    heading: 'Decisions and dead ends',
    asks: 'what was decided and why; what was tried and given up, so that nobody tries it again',
    checks: 'attributed',
    shrinks: true,
  },
  {
    name: 'open-work',
    letter: 'O',
    heading: 'Open work',
    asks: 'what was asked for and is not finished. Done is only what a tool result shows; everything else is "claimed"',
    checks: 'attributed',
    shrinks: true,
  },
  {
    name: 'next-step',
    letter: 'N',
    heading: 'Next step',
    asks: 'what was being done at the very end, and the one step that follows from it, if the user has asked for it',
    checks: 'attributed',
    shrinks: true,
  },
  notes,
];

const byName = new Map(summarySections.map((section) => [section.name, section]));
const byHeading = new Map(summarySections.map((section) => [section.heading.toLowerCase(), section.name]));

/** The row of a section. */
export function sectionOf(name: SectionName): SummarySection {
  return byName.get(name) ?? notes;
}

const AROUND_HEADING = /^[#*\d.) ]+|[*: ]+$/g;
const LONGEST_HEADING = 60;

/** The section a heading names, however it is dressed up (`## Intent`, `**Intent:**`, `1. Intent`), or undefined. */
export function sectionNamed(line: string): SectionName | undefined {
  if (line.length > LONGEST_HEADING) return undefined;
  return byHeading.get(line.replaceAll(AROUND_HEADING, '').toLowerCase());
}
