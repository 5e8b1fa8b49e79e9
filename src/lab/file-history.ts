/** Follows the lines of files through a session, to tell current lines from replaced ones. */

import { fileAccess } from '../conversation/file-access.ts';
import { callArguments, type Message, type ToolCallBlock } from '../conversation/message.ts';
import { type AnsweredCall, answeredCalls, editTextsOf, lastTwoParts, shellCommandOf } from './calls.ts';
import { bareLine, isTellingLine } from './texts.ts';

/** What messages show and write of files, line by line, without numbering and white space at the ends. */
export interface FileHistory {
  /** Every line of a file that was ever shown, written or replaced. */
  readonly lines: ReadonlySet<string>;
  /** Lines that an edit replaced and that no file has any more, as far as the messages tell. */
  readonly replaced: ReadonlySet<string>;
}

/** Commands of a shell whose output is text of files. */
const PRINTS_FILES = /(?:^|[\s;&|(])(?:cat|sed -n|nl|head|tail|bat|rg|grep|git show)\s/;
const FAILED_EDIT = /^\s{0,10}(?:error|failed|no replacement was performed)/i;
/** Arguments of calls that hold the whole new text of a file. */
const WHOLE_FILE_KEYS = ['content', 'contents', 'file_text'] as const;
/** Key for text whose file is unknown. */
const ANY_FILE = '';

/** Follows the lines of files through the calls of these messages. */
export function fileHistoryOf(messages: readonly Message[]): FileHistory {
  const history = new LiveLines();
  for (const answered of answeredCalls(messages)) {
    const { call, result, isError } = answered;
    const hasFailed = isError || FAILED_EDIT.test(result);
    if (isEdit(call)) {
      if (hasFailed) continue;
      applyEdit(history, call);
    }
    const file = shownFile(answered);
    if (file !== undefined && !hasFailed) history.show(file, result.split('\n'));
  }
  return history;
}

function isEdit(call: ToolCallBlock): boolean {
  return fileAccess(call)?.kind === 'write' || editTextsOf(call).oldLines.length > 0;
}

/** The file that a result shows, by the end of its path; undefined for a result that shows none. */
function shownFile({ call }: AnsweredCall): string | undefined {
  const access = fileAccess(call);
  if (access !== undefined) return lastTwoParts(access.path);
  const command = shellCommandOf(call);
  return command === undefined || PRINTS_FILES.test(command) ? ANY_FILE : undefined;
}

function applyEdit(history: LiveLines, call: ToolCallBlock): void {
  const access = fileAccess(call);
  const file = access === undefined ? ANY_FILE : lastTwoParts(access.path);
  const { oldLines, contextLines, newText } = editTextsOf(call);
  const written = [...newText.split('\n'), ...contextLines];
  if (oldLines.length === 0 && isWholeFile(call)) history.replaceFile(file);
  else history.replace(file, oldLines);
  history.show(file, written);
}

function isWholeFile(call: ToolCallBlock): boolean {
  const input = callArguments(call) ?? {};
  return WHOLE_FILE_KEYS.some((key) => Object.hasOwn(input, key));
}

class LiveLines implements FileHistory {
  readonly lines = new Set<string>();
  readonly replaced = new Set<string>();
  /** For each line the files that have it. */
  readonly #files = new Map<string, Set<string>>();

  show(file: string, lines: readonly string[]): void {
    for (const line of this.#take(lines)) {
      this.replaced.delete(line);
      const files = this.#files.get(line);
      if (files === undefined) this.#files.set(line, new Set([file]));
      else files.add(file);
    }
  }

  replace(file: string, lines: readonly string[]): void {
    for (const line of this.#take(lines)) this.#leave(file, line);
  }

  /** Forgets all lines of a file. */
  replaceFile(file: string): void {
    for (const [line, files] of this.#files) if (files.has(file)) this.#leave(file, line);
  }

  #leave(file: string, line: string): void {
    const files = this.#files.get(line);
    // Where nobody knows which file was edited or shown, it is taken to be the same.
    if (file === ANY_FILE) files?.clear();
    files?.delete(file);
    files?.delete(ANY_FILE);
    if (files === undefined || files.size === 0) this.replaced.add(line);
  }

  *#take(lines: readonly string[]): Iterable<string> {
    for (const line of lines) {
      const bare = bareLine(line);
      if (!isTellingLine(bare)) continue;
      this.lines.add(bare);
      yield bare;
    }
  }
}

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
