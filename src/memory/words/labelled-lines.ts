import type { Stretch } from './wrapped-text.ts';

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
