/** Costs as text. */
import type { CostReplay } from '../../src/lab/cost-replay.ts';
import { drawTable } from '../../src/report/terminal.ts';
import { type CostRun, costPolicies, type SessionCost } from './replay-all.ts';

const NONE = 'none';

/** One row per way to compact: totals where none fits the window, and totals of all sessions. */
export function formatRuns({ model, windowTokens, sessions }: CostRun): string {
  const fitting = sessions.filter(({ noneFits }) => noneFits);
  const rows = [NONE, ...costPolicies.map(({ name }) => name)].map((name) => {
    const replays = sessions.map((session) => replayOf(session, name));
    const above = isWorseThanNone({ sessions }, name).length;
    return [
      name,
      dollars(total(fitting, name)),
      share(total(fitting, name) / total(fitting, NONE)),
      name === NONE ? '' : String(above),
      dollars(total(sessions, name)),
      share(total(sessions, name) / total(sessions, NONE)),
      String(replays.reduce((sum, { compactions }) => sum + compactions.length, 0)),
      String(replays.filter(({ overflows }) => overflows > 0).length),
    ];
  });
  const head = [
    '',
    `${fitting.length} fit`,
    'of none',
    'above',
    `all ${sessions.length}`,
    'of none',
    'runs',
    'too long',
  ];
  const title = `${model}, window of ${windowTokens / 1000}k`;
  const right = { align: 'right' } as const;
  const columns = [{ align: 'left' } as const, right, right, right, right, right, right, right];
  return `${title}\n${drawTable([head, ...rows], columns)}`;
}

/** The sessions that fit the window by themselves and cost more with this way to compact. */
export function isWorseThanNone({ sessions }: Pick<CostRun, 'sessions'>, name: string): readonly string[] {
  return sessions
    .filter((session) => session.noneFits && replayOf(session, name).cost > session.none.cost * (1 + 1e-9))
    .map(({ session }) => session);
}

/** How far the compacted session's cost was off at the foretold break-even. */
export function formatBreakEvens(runs: readonly CostRun[]): string {
  const lines = firstOfEachModel(runs).map(({ model, breakEvens }) => {
    const steady = breakEvens.filter(({ hasPause }) => !hasPause).map(({ error }) => error);
    const paused = breakEvens.filter(({ hasPause }) => hasPause).map(({ error }) => error);
    return `  ${model}: ${spread(steady)}; with a pause on the way ${spread(paused)}`;
  });
  return [
    'cost at the foretold break-even, compacted against not (0 % is perfect, a pause makes it pay sooner)',
    ...lines,
  ].join('\n');
}

/** The largest error of those without a pause on the way. */
export function worstBreakEven(runs: readonly CostRun[]): number {
  const errors = runs.flatMap(({ breakEvens }) =>
    breakEvens.filter(({ hasPause }) => !hasPause).map(({ error }) => Math.abs(error)),
  );
  return Math.max(0, ...errors);
}

/** Break-evens do not depend on the window. */
function firstOfEachModel(runs: readonly CostRun[]): readonly CostRun[] {
  return runs.filter(({ model }, index) => runs.findIndex((run) => run.model === model) === index);
}

function spread(errors: readonly number[]): string {
  if (errors.length === 0) return 'none';
  const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
  return `${errors.length} places, from ${share(Math.min(...errors))} to ${share(Math.max(...errors))}, ${share(mean)} on average`;
}

function replayOf({ none, replays }: SessionCost, name: string): CostReplay {
  const replay = name === NONE ? none : replays[name];
  if (replay === undefined) throw new Error(`no replay of ${name}`);
  return replay;
}

function total(sessions: readonly SessionCost[], name: string): number {
  return sessions.reduce((sum, session) => sum + replayOf(session, name).cost, 0);
}

function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}
