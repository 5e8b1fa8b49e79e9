import type { FileHistory } from './file-history.ts';
import { bareLine, isTellingLine } from './file-lines.ts';

/** How much of what a text shows of files is outdated. */
export interface StaleLines {
  /** Lines of files that it shows. */
  readonly shown: number;
  /** Those that an edit has replaced, without a word that says so. */
  readonly stale: readonly string[];
}

/** Words that say of a line, or of the lines in the fence that they lead, that it is no more. */
const MARK = /\b(?:was|old|removed|replaced|before|superseded)\b/i;
const FENCE = /^\s{0,20}(?:```|~~~)/;
/** What may stand in front of a line of a file: signs of additions and quotations. */
const LEADING_SIGNS = /^[+>|]\s?/;
const QUOTED = /`([^`\n]{20,400})`/g;

/** Finds the lines of files that a text shows, and which of them are outdated and do not say so. */
export function staleLinesOf(text: string, { lines, replaced }: FileHistory): StaleLines {
  let shown = 0;
  const stale: string[] = [];
  let isFenceMarked = false;
  let isInFence = false;
  let lead = '';
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) {
      isInFence = !isInFence;
      isFenceMarked = isInFence && MARK.test(`${lead}\n${line}`);
    }
    const candidates = candidatesOf(line).filter((candidate) => lines.has(candidate));
    shown += candidates.length;
    const around = candidates.reduce((rest, candidate) => rest.replace(candidate, ''), line);
    const isMarked = isFenceMarked || line.trimStart().startsWith('-') || MARK.test(around);
    if (!isMarked) stale.push(...candidates.filter((candidate) => replaced.has(candidate)));
    if (!isInFence && line.trim() !== '') lead = line;
  }
  return { shown, stale };
}

/** What of a line may be a line of a file: all of it, or what stands in quotation marks. */
function candidatesOf(line: string): readonly string[] {
  const whole = bareLine(line.trimStart().replace(LEADING_SIGNS, ''));
  const quoted = [...line.matchAll(QUOTED)].map((match) => match[1]?.trim() ?? '');
  return [...new Set([whole, ...quoted])].filter(isTellingLine);
}
