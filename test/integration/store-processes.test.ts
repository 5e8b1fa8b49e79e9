import { afterAll, describe, expect, it } from 'vitest';
import { storeBench, storeCases } from '../support/store-cases.ts';
import {
  commitAfterStanding,
  contendedRounds,
  killWriters,
  wrongRounds,
} from '../support/store-processes.ts';

const KILLS = 20;
/** Dozens of processes are started, on machines that may have other work. */
const TIMEOUT_MS = 240_000;

const bench = storeBench();
afterAll(() => bench.end());

/** A store in memory has no second process. */
const shared = storeCases.filter(({ isShared, isSealed }) => isShared && !isSealed);

describe.each(shared)('processes on one $name store', { timeout: TIMEOUT_MS }, ({ kind }) => {
  it.each([
    { processes: 2, rounds: 100 },
    { processes: 3, rounds: 300 },
  ])('commit each of $rounds rounds exactly once, $processes of them', async ({ processes, rounds }) => {
    const reports = await contendedRounds(await bench.address(kind), processes, rounds);
    expect(wrongRounds(reports, rounds)).toEqual([]);
  });

  it('are fenced when they stood still for longer than their lease', async () => {
    expect(await commitAfterStanding(await bench.address(kind))).toBe('fenced');
  });

  it('lose nothing that was acknowledged when they are killed', async () => {
    const { acknowledged, wrong } = await killWriters(await bench.address(kind), KILLS, Math.random);
    expect(wrong).toEqual([]);
    expect(acknowledged).toBeGreaterThan(KILLS);
  });
});
