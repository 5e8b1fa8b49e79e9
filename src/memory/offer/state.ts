/** Offers where things stand: tasks, checks, processes, git. */

import type { Happening } from '../events.ts';
import type { State, Task } from '../state.ts';
import { ALL_CHANGED, OUTDATED, STATE_HEADS, UNCOMMITTED } from '../tell.ts';
import { cutAt } from '../telling.ts';
import { WORTH } from '../weights.ts';
import type { Piece, Unit } from './piece.ts';

const MOST_CHECKS = 6;
const MOST_COMMITS = 12;
/** So many of the newest checks and commits are told in any case. */
const SURE_CHECKS = 3;
/** What ran before later edits is worth this part of its worth. */
const OUTDATED_PART = 3;
const LONGEST_CHECK = 140;
const LONGEST_OUTCOME = 280;
const DONE = /^(?:completed?|done|finished|cancel+ed|closed|skipped)$/i;

const BEGUN = /^(?:in[ _-]?progress|active|doing|started|running|current)$/i;

/** Offers what holds at the end: tasks, checks, branch and commits, processes, changed files. */
export function offerState(
  state: State,
  events: readonly Happening[],
  shorten: (path: string) => string,
): readonly Piece[] {
  const pieces = [
    offerTasks(state),
    offerChecks(state, events),
    offerGit(state, shorten),
    offerRunning(state),
    offerChanged(state, shorten),
  ];
  return pieces
    .map((piece, place): Piece => ({ ...piece, part: 'state', place, turn: 0 }))
    .filter(({ units }) => units.length > 0);
}

type Offer = Pick<Piece, 'head' | 'units'>;

/** So many of the next tasks are told in any case. */
const SURE_TASKS = 2;

function offerTasks({ tasks, areTasksKept }: State): Offer {
  if (areTasksKept) return { head: '', units: [] };
  const units: Unit[] = [];
  const waiting = tasks.filter(({ status }) => kindOfTask(status) === 'waiting');
  const sure = new Set(waiting.slice(0, SURE_TASKS));
  let before: number | undefined;
  // Of some an earlier memory had no room for the text: they only count.
  for (const task of tasks.filter(({ text }) => text !== '')) {
    const kind = sure.has(task) ? 'begun' : kindOfTask(task.status);
    const isWaiting = kindOfTask(task.status) === 'waiting';
    const needs = units.length;
    units.push({
      text: `[${task.status}] ${numberOf(task)}${oneLine(task.text)}`,
      worth: TASK_WORTH[kind],
      startsLine: true,
      // None that waits stands there without those that come before it.
      needs: isWaiting ? before : undefined,
      names: kind === 'done' ? [] : undefined,
    });
    if (isWaiting) before = needs;
    if (task.detail !== undefined && kind !== 'done')
      units.push({ text: `: ${oneLine(task.detail)}`, worth: WORTH.taskDetail, startsLine: false, needs });
  }
  return { head: `${STATE_HEADS.tasks}${tasks.length > SURE_TASKS + 1 ? countTasks(tasks) : ''}`, units };
}

const TASK_WORTH = { begun: WORTH.sureState, waiting: WORTH.openTask, done: WORTH.closedTask } as const;

function kindOfTask(status: string): keyof typeof TASK_WORTH {
  return DONE.test(status) ? 'done' : BEGUN.test(status) ? 'begun' : 'waiting';
}

/** How many tasks there are, told or not, by their status. */
function countTasks(tasks: readonly Task[]): string {
  const counts = Map.groupBy(tasks, ({ status }) => status);
  return ` ${[...counts].map(([status, all]) => `${all.length} ${status}`).join(', ')}`;
}

function numberOf({ id }: Task): string {
  return /^\d{1,5}$/.test(id) ? `${id} ` : '';
}

function offerChecks({ checks, changedAt }: State, events: readonly Happening[]): Offer {
  const newest = checks.filter(({ at }) => events[at]?.isKept !== true).slice(-MOST_CHECKS);
  const units = newest.map(({ command, isFailed, isOutdated, outcome, at }, index): Unit => {
    const before = isOutdated || at < changedAt ? OUTDATED : '';
    const isLast = index === newest.length - 1;
    const said = outcome === '' ? '' : `: ${cutAt(outcome, LONGEST_OUTCOME)}`;
    return {
      text: `\`${oneLine(command).slice(0, LONGEST_CHECK)}\` ${isFailed ? 'failed' : 'ended'}${before}${said}`,
      worth: WORTH.lastCheck / (newest.length - index) / (before === '' || isLast ? 1 : OUTDATED_PART),
      startsLine: true,
    };
  });
  return { head: STATE_HEADS.checks, units };
}

function offerGit(state: State, shorten: (path: string) => string): Offer {
  const { branch, commits, made, workingTree, uncommitted } = state;
  const changed = state.files.all().filter(({ changes }) => changes > 0);
  const isAll = changed.length > 1 && changed.every(({ path }) => uncommitted.includes(path));
  const units: Unit[] = [];
  const add = (text: string, worth: number) => units.push({ text, worth, startsLine: true });
  if (branch !== undefined) add(`branch ${branch}`, WORTH.sureState);
  for (const [index, { hash, subject }] of commits.slice(-MOST_COMMITS).entries()) {
    const isNewest = index === Math.min(commits.length, MOST_COMMITS) - 1;
    const isNew = index >= Math.min(commits.length, MOST_COMMITS) - SURE_CHECKS;
    add(
      hash === '' ? `committed ${subject}` : `commit ${hash} ${subject}`,
      isNewest ? WORTH.sureState : isNew ? WORTH.state / 2 : WORTH.closedTask,
    );
  }
  for (const { address, title } of made.slice(-MOST_COMMITS))
    add(`made ${address} ${title}`.trimEnd(), WORTH.state / 2);
  if (workingTree !== undefined) add(`git status: ${workingTree}`, WORTH.state / 2);
  if (units.length > 0 && uncommitted.length > 0)
    add(`${UNCOMMITTED}${isAll ? ALL_CHANGED : uncommitted.map(shorten).join(', ')}`, WORTH.state / 2);
  return { head: STATE_HEADS.git, units };
}

function offerRunning({ running }: State): Offer {
  const units = running.slice(-4).map(
    ({ id, command }, index): Unit => ({
      text: `${index === 0 ? '' : ', '}${id}: \`${oneLine(command).slice(0, 120)}\``,
      worth: WORTH.state / 2,
      startsLine: false,
    }),
  );
  return { head: STATE_HEADS.running, units };
}

function offerChanged({ files }: State, shorten: (path: string) => string): Offer {
  const changed = files
    .all()
    .filter(({ changes }) => changes > 0)
    .toSorted((left, right) => right.changedAt - left.changedAt);
  const units = changed.map(
    ({ path, isRemoved }, index): Unit => ({
      text: `${index === 0 ? '' : ', '}${shorten(path)}${isRemoved ? ' (removed)' : ''}`,
      worth: WORTH.changedFile,
      startsLine: false,
    }),
  );
  return { head: STATE_HEADS.changed, units };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
