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
/** So much of a line tells what it is. */
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
