/** Offers what tool calls did, as pieces of the story. */

import type { Action } from '../actions.ts';
import { changedLines, currentLines } from '../changed-lines.ts';
import { commandKind, HEREDOC, printedFile, shownCommand } from '../commands.ts';
import type { Did } from '../events.ts';
import { errorIn, isDecisive } from '../telling.ts';
import { WORTH } from '../weights.ts';
import { type Piece, type Unit, unitsOf } from './piece.ts';
import { offerResult } from './results.ts';
import { oneLine, type StoryContext, type StoryPlace } from './story-place.ts';

const LONGEST_COMMAND = 220;
const LONGEST_ARGUMENTS = 400;
const LONGEST_PATTERN = 120;
const LONGEST_TASK = 160;
const LONGEST_ERROR = 200;
/** Units of what a sub-agent was told and answered that are looked at. */
const MOST_PROMPT_UNITS = 12;
const MOST_REPORT_UNITS = 400;
/** What the task and the report of a sub-agent are worth: little, since the agent's own text repeats most of it. */
const PROMPT_WORTH = 0.25;
const REPORT_WORTH = { decisive: 0.9, other: 0.4 } as const;
/** What an ordinary output line is worth by the kind of command: `git` prints a state, a look prints whole files. */
const PLAIN_LINES = { look: 1, check: 1.4, do: 1.4, git: 4 } as const;
const OLD_RESULT_SHARE = 0.4;

/** Whether a call only looks around. */
export function isLook({ action, isFailed, isRefused }: Did): boolean {
  if (isFailed || isRefused) return false;
  if (action.kind === 'look' || action.kind === 'search') return true;
  return action.kind === 'run' && commandKind(action.command) === 'look';
}

/** Whether what a look shows is told with the file it shows. */
export function showsFile({ action, result }: Did): boolean {
  if (result === undefined || result.text === '' || action.kind === 'look') return true;
  return action.kind === 'run' && printedFile(action.command) !== undefined;
}

/** Looks at files, one after the other, on one line. */
export function offerLooks(events: readonly Did[], at: StoryPlace): Piece {
  const looks = [...new Set(events.map(({ action }) => lookText(action, at.context)))].filter(
    (text) => text !== '',
  );
  const units = looks.map(
    (text, index): Unit => ({
      text: index === 0 ? text : `; ${text}`,
      worth: WORTH.look * at.aged,
      startsLine: false,
    }),
  );
  return at.piece('looked at', units);
}

/** What a look found. */
export function offerFindings(event: Did, at: StoryPlace): Piece {
  const scale = at.aged * (at.context.state.superseded.has(event) ? OLD_RESULT_SHARE : 1);
  const terms = { scale, plain: WORTH.plain, error: WORTH.plain, record: WORTH.printed * scale };
  return at.piece('looked:', [
    // Without what it found, a look tells nothing.
    { text: `${lookText(event.action, at.context)} →`, worth: 0, startsLine: false, names: [] },
    ...offerResult(event.result?.text ?? '', terms),
  ]);
}

function lookText(action: Action, { shorten }: StoryContext): string {
  const rangeOf = (from: number | undefined, to: number | undefined) =>
    from === undefined ? '' : ` ${from}–${to ?? ''}`;
  switch (action.kind) {
    case 'look':
      return action.files.map(({ path, from, to }) => `${shorten(path)}${rangeOf(from, to)}`).join(', ');
    case 'search':
      return `\`${action.what.slice(0, LONGEST_PATTERN)}\`${action.where === undefined ? '' : ` in ${shorten(action.where)}`}`;
    case 'run': {
      const printed = printedFile(action.command);
      if (printed !== undefined) return `${shorten(printed.path)}${rangeOf(printed.from, printed.to)}`;
      return `\`${oneLine(shownCommand(action.command)).slice(0, LONGEST_COMMAND)}\``;
    }
    default:
      return '';
  }
}

/** Offers what a call did and what came of it; undefined for what is told elsewhere. */
export function offerCall(event: Did, at: StoryPlace): Piece | undefined {
  const { action } = event;
  if (event.isRefused) return offerRefused(event, at);
  switch (action.kind) {
    case 'change':
      return offerChange(event, action, at);
    case 'run':
      return offerRun(event, action, at);
    case 'delegate':
      return offerDelegate(event, action, at);
    case 'tasks':
    case 'ask':
    case 'finish':
      return undefined;
    default:
      return offerOther(event, at);
  }
}

function offerRefused(event: Did, at: StoryPlace): Piece {
  const text = `${event.name} ${argumentsText(event.action, at.context)}`;
  return at.piece('refused by the user, not done:', [{ text, worth: WORTH.refused, startsLine: false }]);
}

function argumentsText(action: Action, context: StoryContext): string {
  switch (action.kind) {
    case 'run':
      return `\`${oneLine(action.command).slice(0, LONGEST_COMMAND)}\``;
    case 'change':
      return action.files.map(({ path }) => context.shorten(path)).join(', ');
    case 'other':
      return oneLine(action.arguments).slice(0, LONGEST_ARGUMENTS);
    case 'delegate':
      return action.what;
    default:
      return lookText(action, context);
  }
}

function offerChange(
  { isFailed, result }: Did,
  { files }: Extract<Action, { kind: 'change' }>,
  at: StoryPlace,
): Piece {
  const units: Unit[] = [];
  for (const { path, changes, isRemoved = false } of files) {
    const isWhole = changes.every(({ old }) => old === undefined);
    const verb = isFailed ? 'failed to edit' : isRemoved ? 'removed' : isWhole ? 'wrote' : 'edited';
    const needs = units.length;
    units.push({
      text: `${needs === 0 ? '' : '; '}${verb} ${at.context.shorten(path)}`,
      worth: WORTH.change * at.aged,
      startsLine: false,
    });
    if (isFailed) continue;
    for (const { text, weight } of changedLines(changes, currentLines(path, at.context)))
      units.push({ text, worth: WORTH.changedLine * weight * at.aged, startsLine: true, needs });
  }
  const error = oneLine(result?.text ?? '').slice(0, LONGEST_ERROR);
  if (isFailed)
    units.push({ text: `: ${error}`, worth: WORTH.failure * at.aged, startsLine: false, needs: 0 });
  return at.piece('', units);
}

function offerRun(event: Did, { command }: Extract<Action, { kind: 'run' }>, at: StoryPlace): Piece {
  const { result, isFailed } = event;
  const kind = commandKind(command);
  const isOld = at.context.state.superseded.has(event);
  const isSilent = (result?.text ?? '') === '' && kind !== 'git';
  const isIdle = !isFailed && (isOld || isSilent);
  const worth = isIdle ? WORTH.oldRun : kind === 'look' ? WORTH.look : WORTH.run;
  const units: Unit[] = [
    { text: `\`${commandText(command)}\`${statusOf(event)}`, worth: worth * at.aged, startsLine: false },
  ];
  for (const text of messagesIn(command))
    units.push({ text, worth: WORTH.decisive * at.aged, startsLine: true, needs: 0 });
  const scale = at.aged * (isOld ? OLD_RESULT_SHARE : 1);
  const terms = {
    scale,
    plain: WORTH.plain * PLAIN_LINES[kind],
    error: WORTH.failure,
    record: WORTH.printed * scale,
    from: units.length,
  };
  const error = isFailed ? errorIn(result?.text ?? '') : undefined;
  const lines = offerResult(result?.text ?? '', terms).map((unit) =>
    unit.text === error ? { ...unit, worth: WORTH.firstError * at.aged } : unit,
  );
  return at.piece('ran', [...units, ...lines]);
}

function statusOf({ isFailed, result }: Did): string {
  const exit = result?.exitCode === undefined ? '' : ` (exit ${result.exitCode})`;
  if (isFailed) return ` → failed${exit}`;
  return result?.running === undefined ? '' : ' → running';
}

const MESSAGE = /(?:-m|--message|--body|--title|-f body=)\s?"([^"\n]{20,2000})"/g;
const SIGNATURE = /^(?:Co-Authored-By|🤖)/;
const SHORTEST_MESSAGE = 16;
const MOST_MESSAGE_LINES = 30;

/** A command on one line; what it feeds to a program is told apart. */
function commandText(command: string): string {
  const short = oneLine(shownCommand(command.replaceAll(HEREDOC, '<<…')));
  return short.length > LONGEST_COMMAND
    ? `${short.slice(0, LONGEST_COMMAND - 40)} … ${short.slice(-36)}`
    : short;
}

/** Messages that a command hands on: of commits, of comments. They say why. */
function messagesIn(command: string): readonly string[] {
  if (!/\b(?:commit|comment|pr|issue|body)\b/.test(command)) return [];
  const fed = [...command.matchAll(HEREDOC)].flatMap(([, , text = '']) => text.split('\n'));
  const quoted = [...command.matchAll(MESSAGE)].map(([, text = '']) => text);
  return (fed.length > 0 ? fed : quoted)
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_MESSAGE && !SIGNATURE.test(line))
    .slice(0, MOST_MESSAGE_LINES);
}

function offerDelegate(
  { result }: Did,
  { what, prompt }: Extract<Action, { kind: 'delegate' }>,
  at: StoryPlace,
): Piece {
  const task = what === '' ? oneLine(prompt).slice(0, LONGEST_TASK) : what;
  const units: Unit[] = [{ text: task, worth: WORTH.delegated * at.aged, startsLine: false }];
  for (const { text } of unitsOf(prompt).slice(0, MOST_PROMPT_UNITS))
    units.push({ text, worth: PROMPT_WORTH * at.aged, startsLine: true, needs: 0 });
  const first = units.length;
  for (const { text, startsLine, needs } of unitsOf(result?.text ?? '').slice(0, MOST_REPORT_UNITS)) {
    const worth = isDecisive(text) ? REPORT_WORTH.decisive : REPORT_WORTH.other;
    units.push({ text, worth: worth * at.aged, startsLine, needs: needs === undefined ? 0 : first + needs });
  }
  return at.piece('sub-agent', units);
}

function offerOther({ action, result, isFailed, name }: Did, at: StoryPlace): Piece {
  const text = argumentsText(action, at.context);
  const done = `${name}${text === '' ? '' : ` ${text}`}${isFailed ? ' → failed' : ''}`;
  // Who somebody is and what they have is asked for once, and used at the very end: it does not age.
  const terms = {
    scale: at.aged,
    plain: WORTH.plain * 2,
    error: WORTH.failure,
    record: WORTH.record,
    asked: text,
  };
  return at.piece('called', [
    { text: done, worth: WORTH.call * at.aged, startsLine: false },
    ...offerResult(result?.text ?? '', terms),
  ]);
}
