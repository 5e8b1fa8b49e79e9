/** Why a line of a tool result is worth telling. */
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

const REASON =
  /\b(?:because|since|due to|caused? by|root cause|the (?:real |actual )?(?:cause|reason|problem|issue|bug|culprit|fix|trick|catch) (?:is|was|here)|turns out|so that|therefore|which (?:means|is why)|that['’]?s why|instead of|rather than|decided|chose|weil|deshalb|porque|por eso|parce que)\b|因为|由于|原因|所以|因此|のため|ので/i;

/** Whether a sentence says why: a cause, a reason, a choice between two. */
export function givesReason(text: string): boolean {
  return REASON.test(text);
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

/** A line with the verdict on one part of a check: `ok …`, `FAIL …`, `✗ …`. */
const VERDICT = /^\s{0,8}(?:ok|PASS(?:ED)?|(?:-{3} )?(?:FAIL(?:ED)?|ERROR|not ok|[✗✕×✖]))(?=[\s:])/;
const FAILED_VERDICT = /^\s{0,8}(?:-{3} )?(?:FAIL|ERROR|not ok|[✗✕×✖])/;
/** A stack frame: it says where something failed, not what. */
const STACK = /\.\w{1,6}:\d{1,6}(?::\d{1,5})?(?:\)?$| \+0x)|^\s{0,12}(?:at |File "|goroutine |Traceback )/;
/** What a package manager prints before it runs a script. */
const ECHO = /^> \S/;
const MOST_VERDICTS = 4;
const LONGEST_VERDICT = 90;

/** How compilers begin or mark an error: `error[E0308]: …`, `a.ts(3,4): error TS2304: …`, `a.c:3:4: error: …`. */
const COMPILER_ERROR = /^\s{0,8}error(?:\[\w{1,12}\])?: |[:)] (?:fatal )?error(?: \w{1,12})?: /;

/** Whether a part of a check says that it failed, whatever the command made of that. */
export function hasFailed(text: string): boolean {
  return tellingLines(text).some(
    ({ text: line }) => (VERDICT.test(line) && FAILED_VERDICT.test(line)) || COMPILER_ERROR.test(line),
  );
}

/**
 * The line that says what went wrong. Behind the first failure of a check come others that follow from it; a program by
 * itself ends with what stopped it.
 */
export function errorIn(text: string): string | undefined {
  const lines = tellingLines(text);
  const errors = lines.filter(
    ({ kind, text: line }) => kind === 'error' && !STACK.test(line.trim()) && !VERDICT.test(line),
  );
  const isCheck = lines.some(({ text: line }) => VERDICT.test(line) && FAILED_VERDICT.test(line));
  return (isCheck ? errors[0] : errors.at(-1))?.text.trim();
}

/** The lines that say how a check ended: what failed and why, or else the sum of it, or how each of its parts did. */
export function outcomeOf(text: string, isFailed: boolean): string | undefined {
  const lines = tellingLines(text)
    .map(({ text: line, kind }) => ({ line: line.trim(), kind }))
    .filter(({ line }) => !ECHO.test(line));
  const verdicts = lines.map(({ line }) => line).filter((line) => VERDICT.test(line));
  const failed = verdicts.filter((line) => FAILED_VERDICT.test(line));
  const isSum = ({ kind, line }: { readonly kind: TellingKind; readonly line: string }) =>
    kind === 'sum' && !VERDICT.test(line);
  const sum = lines.findLast(isSum)?.line;
  const told: (string | undefined)[] = [];
  if (isFailed || failed.length > 0) {
    const errors = lines.filter(({ line }) => COMPILER_ERROR.test(line));
    const more = errors.length > 1 ? `${errors.length} errors like this` : undefined;
    told.push(...failed.slice(0, MOST_VERDICTS - 1), errorIn(text), sum ?? more, ...verdicts);
  } else told.push(...(verdicts.length > 1 ? verdicts : [sum ?? verdicts.at(-1)]));
  const shown = [...new Set(told.filter((line) => line !== undefined))].slice(0, MOST_VERDICTS);
  // A line that leads others says nothing without them.
  if (shown.length === 0) return (lines.findLast(({ line }) => !line.endsWith(':')) ?? lines.at(-1))?.line;
  return shown.length === 1 ? shown[0] : shown.map((line) => cutAt(line, LONGEST_VERDICT)).join(' | ');
}

/** A text up to a length, cut between two words. */
export function cutAt(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), length / 2))}…`;
}
