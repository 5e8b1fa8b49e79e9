/**
 * Measures the text estimator and the exact counter on this machine, against goals T1, T2, T3 and T5:
 *
 *     node bench/estimator/bench.ts
 *
 * Needs nothing but installed dependencies: it takes the texts it finds (node_modules, system folders, generated ones)
 * and says which kinds it could not find. The exit code is 1 when a goal is missed.
 */
import { estimateTokenCount } from 'tokenx';
import { estimateTextTokens } from '../../src/tokens/text-estimator.ts';
import {
  charsByFour,
  countPieces,
  errorsByKind,
  type KindError,
  meanOverKinds,
  worstKind,
} from './accuracy.ts';
import { type Collection, collectFitted, collectUnseen } from './corpus.ts';
import { measureExactCounter } from './exact.ts';
import { type Goal, printGoals } from './goals.ts';
import { errorTable } from './report.ts';
import { measureThroughput, mixPieces } from './throughput.ts';

const kindLimitChars = 400_000;
const counters = { roundfold: estimateTextTokens, 'chars ÷ 4': charsByFour, tokenx: estimateTokenCount };

const test = collectFitted('test', kindLimitChars);
const unseen = collectUnseen(kindLimitChars);
const mixed = mixPieces(test.pieces, 4_000_000);

printHeading('Throughput, and the exact counter');
const throughputGoals = measureSpeed();
const prose = test.pieces.filter(({ kind }) => kind === 'English prose').map(({ text }) => text);
const ordinary = [...test.pieces, ...unseen.pieces].map(({ text }) => text);
const exactGoals = await measureExactCounter(ordinary, prose.length > 0 ? prose : mixed);

printGoals([...throughputGoals, ...measureAccuracy(), ...exactGoals]);

function measureSpeed(): readonly Goal[] {
  const { sizeBytes, rows } = measureThroughput(mixed, {
    roundfold: estimateTextTokens,
    'JSON.stringify': (text) => JSON.stringify(text).length,
    tokenx: estimateTokenCount,
  });
  console.log(`  ${(sizeBytes / 1e6).toFixed(1)} MB in ${mixed.length} strings`);
  for (const row of rows)
    console.log(`  ${row.name.padEnd(24)} ${row.megabytesPerSecond.toFixed(0).padStart(5)} MB/s`);
  const rateOf = (name: string) => rows.find((row) => row.name === name)?.megabytesPerSecond ?? Number.NaN;
  const against = (name: string) => rateOf('roundfold') / rateOf(name);
  return [
    { name: 'T1 speed against tokenx', measured: against('tokenx'), bar: { atLeast: 12 }, unit: 'x' },
    {
      name: 'T1 speed against JSON.stringify',
      measured: against('JSON.stringify'),
      bar: { atLeast: 0.7 },
      unit: 'x',
    },
  ];
}

function measureAccuracy(): readonly Goal[] {
  const fitted = judge('Fitted kinds, the half that was not fitted on: mean / p95 (bias), %', test);
  const neverFitted = judge('Kinds never fitted: mean / p95 (bias), %', unseen);
  return [
    accuracyGoal('T2 mean error over the fitted kinds', meanOverKinds(fitted.errors), 3.5),
    accuracyGoal(
      'T2 share of the error of chars ÷ 4',
      meanOverKinds(fitted.errors) / meanOverKinds(fitted.plain),
      12.5,
    ),
    worstGoal('T2 largest p95', fitted.errors, (error) => error.p95, 15),
    accuracyGoal('T3 mean error over the kinds never fitted', meanOverKinds(neverFitted.errors), 7),
    worstGoal('T3 largest mean', neverFitted.errors, (error) => error.mean, 20),
  ];
}

function judge(title: string, collection: Collection) {
  const pieces = countPieces(collection.pieces);
  printHeading(title);
  console.log(errorTable(pieces, counters).join('\n'));
  if (collection.missing.length > 0) console.log(`Missing on this machine: ${collection.missing.join(', ')}`);
  console.log();
  return { errors: errorsByKind(pieces, estimateTextTokens), plain: errorsByKind(pieces, charsByFour) };
}

function accuracyGoal(name: string, share: number, percentLimit: number): Goal {
  return { name, measured: share * 100, bar: { atMost: percentLimit }, unit: ' %' };
}

function worstGoal(
  name: string,
  errors: readonly KindError[],
  read: (error: KindError) => number,
  percentLimit: number,
): Goal {
  const worst = worstKind(errors, read);
  return accuracyGoal(
    `${name} (${worst?.kind})`,
    worst === undefined ? Number.NaN : read(worst),
    percentLimit,
  );
}

function printHeading(title: string): void {
  console.log(`\n${title}\n`);
}
