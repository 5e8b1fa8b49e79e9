/** Finds the last check of a session (tests, build) and whether a context still tells its outcome. */

import type { Message } from '../conversation/message.ts';
import { answeredCalls, shellCommandOf } from './calls.ts';
import { foldText } from './texts.ts';

/** The newest command that says whether the work is sound, and what came of it. */
export interface LastCheck {
  readonly command: string;
  /** Lines of its result that tell the outcome. */
  readonly outcome: readonly string[];
  /** The whole result: where it still stands behind the command, its outcome is told however long it is. */
  readonly result: string;
}

const CHECK_WORDS =
  /(?:^|[\s:/-])(?:tests?|pytest|unittest|vitest|jest|lint|build|check|typecheck|tsc|vet|verify|compile|runtests\.py)(?=$|[\s:;)'"])/i;
/** Commands that look around, move files or keep versions, whatever words they hold and however often they run. */
const NO_CHECK =
  /^(?:cd|cat|ls|pwd|echo|printf|grep|rg|sed|awk|jq|head|tail|find|wc|nl|which|sort|true|for|done|fi|sleep|mkdir|cp|mv|rm|touch|chmod|export|git|gh)(?:\s|$)/;
const OUTCOME_LINE =
  /\b(?:FAIL(?:ED|URES?)?|errors?|warnings?|issues?|problems?|ok|pass(?:ed|es)?|exit(?:ed)?(?: with)? code|success(?:ful)?|finished)\b/i;
const OUTCOME_WORD = /\b(?:pass(?:ed|es)?|fail(?:ed|s)?|ok|exit(?:ed)?|errors?|succe(?:eded|ss))\b/i;

/** The newest answered command that ran twice or looks like a check; undefined where there is none. */
export function lastCheckOf(messages: readonly Message[]): LastCheck | undefined {
  const runs = answeredCalls(messages).flatMap(({ call, result }) => {
    const command = shellCommandOf(call);
    return command === undefined ? [] : [{ command, result, key: foldText(command).trim() }];
  });
  const counts = Map.groupBy(runs, ({ key }) => key);
  const newest = runs.findLast(
    ({ key, command }) =>
      partsOf(command).length > 0 && ((counts.get(key)?.length ?? 0) > 1 || isCheck(command)),
  );
  return newest && { command: newest.command, outcome: outcomeLines(newest.result), result: newest.result };
}

/** Names and texts that a command handles say nothing of what it does. */
const PART_CHARACTERS = 100;

function isCheck(command: string): boolean {
  return partsOf(command).some((part) => CHECK_WORDS.test(part.slice(0, PART_CHARACTERS)));
}

/** Words of the shell that only lead a command. */
const LOOP_WORDS = /^(?:(?:do|if|then|else|while) ){1,3}/;
const QUOTED = /"[^"]{20,}"|'[^']{20,}'/g;

/** The parts of a command line that do something. A text that is fed to one of them is none. */
function partsOf(command: string): readonly string[] {
  const [line = ''] = command.split('<<', 1);
  return line
    .replaceAll(QUOTED, "''")
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim().replace(LOOP_WORDS, ''))
    .filter((part) => part !== '' && !part.startsWith('#') && !NO_CHECK.test(part));
}

const SHORTEST_OUTCOME = 3;
/** How many characters of an outcome's line have to be in the context. */
const OUTCOME_CHARACTERS = 80;

function outcomeLines(result: string): readonly string[] {
  const lines = result.split('\n').map((line) => line.trim());
  // Some harnesses head a result by `Output:`, which tells nothing where nothing follows; `> script` is what will run.
  const telling = lines.filter(
    (line) => line.length >= SHORTEST_OUTCOME && !line.endsWith(':') && !line.startsWith('> '),
  );
  const last = telling.at(-1);
  return [...telling.filter((line) => OUTCOME_LINE.test(line)), ...(last === undefined ? [] : [last])];
}

/** A line of the result within so many characters of the command says what came of it. */
const WINDOW = 600;
/** A word like `failed` does so only when it is nearer: it may speak of something else. */
const WORD_WINDOW = 150;
/** How many characters of a command tell it from others. */
const HEAD_CHARACTERS = 40;
/** Where a command runs does not tell it from others, nor how much of its output was looked at. */
const CHANGE_OF_FOLDER = /^cd [^&;]{1,300}(?:&&|;)\s{0,5}/;
const CUT_OUTPUT = /\s{0,3}(?:2>&1|\|\s{0,3}(?:tail|head)\b).{0,200}$/s;
/** The end of a result that is there as a whole. */
const END_CHARACTERS = 200;

/** Whether a context names the command and, near it, what came of it. */
export function isCheckTold({ command, outcome, result }: LastCheck, context: string): boolean {
  const text = foldText(context);
  const bare = command.trim().replace(CHANGE_OF_FOLDER, '').replace(CUT_OUTPUT, '');
  const head = foldText(bare).slice(0, HEAD_CHARACTERS).trim();
  const wanted = outcome.map((line) => foldText(line).slice(0, OUTCOME_CHARACTERS).trim());
  const end = foldText(result).trim().slice(-END_CHARACTERS);
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, at + 1)) {
    const before = text.slice(Math.max(0, at - WINDOW), at);
    const from = at + head.length;
    const after = text.slice(from, from + WINDOW);
    // The command itself may hold such words.
    if (OUTCOME_WORD.test(before.slice(-WORD_WINDOW)) || OUTCOME_WORD.test(after.slice(0, WORD_WINDOW)))
      return true;
    if (wanted.some((line) => before.includes(line) || after.includes(line))) return true;
    if (end !== '' && text.slice(from, from + WINDOW + result.length).includes(end)) return true;
  }
  return false;
}
