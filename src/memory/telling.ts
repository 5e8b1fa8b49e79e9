/** Why a line of a result tells something. */
export type TellingKind = 'error' | 'sum' | 'reference' | 'rule' | 'prose' | 'edge' | 'plain';

export interface TellingLine {
  /** Index of the line in the result. */
  readonly index: number;
  readonly text: string;
  readonly kind: TellingKind;
}

const ERROR =
  /\b(?:error|errors|fail|failed|failure|fails|failing|panic|exception|traceback|fatal|undefined|cannot|can't|denied|not found|no such|refused|invalid|unexpected|missing|timed out|timeout|rejected|unable|assert\w{0,10})\b|\bE\d{3,4}\b/i;
const SUM =
  /\b\d{1,7} (?:passed|failed|failing|passing|tests?|errors?|issues?|warnings?|problems?|files? changed|insertions?|deletions?|suites?|matches|skipped|rows?)\b|^\s{0,8}(?:ok|PASS|FAIL|OK|SUCCESS|Success\w{0,8}|Done|BUILD \w{1,12}|All tests|Tests?:|Finished|Compiled|Total)\b|up to date|nothing to commit|no changes/;
const REFERENCE =
  /https?:\/\/|\[[\w./-]{1,120} (?:\([\w -]{1,20}\) )?[0-9a-f]{7,12}\]|^\s{0,8}[0-9a-f]{7,12}\.\.[.]?[0-9a-f]{7,12}\b|-> /;
const LONGEST = 360;
const HEAD_LINES = 40;
const TAIL_LINES = 40;
/** Error lines between the first and the last lines that are looked at. */
const MOST_BETWEEN = 30;
const ESCAPE = '\u001b';
/** Colours, movements of the cursor, and titles of windows. */
const ESCAPES = new RegExp(
  `${ESCAPE}(?:\\[[\\d;?]{0,12}[A-Za-z]|\\][^${ESCAPE}\u0007]{0,200}(?:\u0007|${ESCAPE}\\\\)?)`,
  'g',
);

/** The lines of a result that may be worth showing, in order: its edges, what went wrong, sums and addresses. */
export function tellingLines(given: string): readonly TellingLine[] {
  const lines = given.split('\n');
  const found: TellingLine[] = [];
  const last = lines.findLastIndex((line) => line.trim() !== '');
  const first = lines.findIndex((line) => line.trim() !== '');
  let between = 0;
  for (let index = first; index <= last && index >= 0; index++) {
    const isNear = index < HEAD_LINES || index > last - TAIL_LINES;
    const line = lines[index] ?? '';
    if (!isNear && (between >= MOST_BETWEEN || !ERROR.test(line.slice(0, LONGEST)))) continue;
    if (!isNear) between++;
    const text = clean(line);
    if (text.trim() === '') continue;
    found.push({ index, text, kind: kindOf(text, index === first || index === last) });
  }
  return found;
}

function kindOf(text: string, isEdge: boolean): TellingKind {
  if (SUM.test(text)) return 'sum';
  if (ERROR.test(text)) return 'error';
  if (REFERENCE.test(text)) return 'reference';
  if (isProse(text)) return isDecisive(text) ? 'rule' : 'prose';
  return isEdge ? 'edge' : 'plain';
}

const DECISIVE =
  /\b(?:because|since|so that|instead|decided|decision|found|issue|problem|root cause|cause[ds]?|fix(?:ed|es)?|confirm(?:ed|s)?|actually|turns out|therefore|means|should|must|need(?:s|ed)? to|works?|fail(?:s|ed|ing)?|broken|wrong|correct|missing|only|not|never|always|won't|can't|doesn't|verified|reason|chose|prefer|recommend|plan|approach|option)\b/i;

/** Whether a sentence finds, decides, demands or gives a reason, by the words of that. */
export function isDecisive(text: string): boolean {
  return DECISIVE.test(text);
}

const FEWEST_WORDS = 5;

/** Whether a line is a sentence that somebody wrote for people, and no code, listing or log. */
export function isProse(text: string): boolean {
  const line = text.trim();
  if (line.length < 30 || /[{};=]\s*$|^\s*(?:import|const|let|return|func|def|class|\d+:)\b/.test(line))
    return false;
  let letters = 0;
  let spaces = 0;
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if (code === 32) spaces++;
    else if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 191) letters++;
  }
  return spaces + 1 >= FEWEST_WORDS && letters + spaces >= line.length * 0.8;
}

function clean(line: string): string {
  const text = line.includes(ESCAPE) ? line.replaceAll(ESCAPES, '') : line;
  const shown = text.trimEnd();
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 60)} … ${shown.slice(-50)}` : shown;
}

/** The one line that says how a check ended. */
export function outcomeLine(text: string, isFailed: boolean): string | undefined {
  const lines = tellingLines(text);
  const wanted: readonly TellingKind[] = isFailed ? ['error', 'sum'] : ['sum'];
  for (const kind of wanted) {
    const line = lines.findLast((each) => each.kind === kind);
    if (line !== undefined) return line.text.trim();
  }
  return lines.at(-1)?.text.trim();
}
