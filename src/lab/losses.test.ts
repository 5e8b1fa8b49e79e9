import { describe, expect, test } from 'vitest';
import { cutBetween, said, tool, user } from '../../test/support/example-cut.ts';
import { lossesOf } from './losses.ts';
import { scoreNeeds } from './need-score.ts';
import { findNeeds } from './needs.ts';
import type { Probe } from './probes.ts';

const line = '  const quay = quays.find((one) => one.depthMetres > 9);';
const cut = cutBetween(
  [
    user('You must never rename the file harbour.lock, whatever happens.'),
    ...tool('Read', { file_path: 'src/quays.ts' }, `import x;\n${line}\n`),
    said('The table tideTable comes next.'),
  ],
  [
    ...tool('Bash', { command: 'ls' }, 'nothing'),
    ...tool('Edit', { file_path: 'src/quays.ts', old_string: line, new_string: 'x' }, 'done'),
    ...tool('Grep', { pattern: 'tideTable' }, ''),
  ],
);
const needs = findNeeds(cut, new Set());

describe('what was lost', () => {
  const missed = { ...scoreNeeds(needs, [user('nothing')]).missed, probes: [] };
  const losses = lossesOf(cut, missed);

  test('is told with its place before the cut and the call that needed it', () => {
    expect(losses.find(({ kind }) => kind === 'edit line')).toEqual({
      kind: 'edit line',
      what: line.trim(),
      stoodIn: 'message 3, result of Read src/quays.ts',
      neededBy: 'Edit src/quays.ts',
      roundsLater: 2,
    });
    expect(losses.find(({ what }) => what === 'tideTable')).toMatchObject({
      kind: 'identifier',
      stoodIn: 'message 4, text of the model',
      neededBy: 'Grep tideTable',
      roundsLater: 3,
    });
  });

  test('begins with demands of the user, which hold throughout', () => {
    expect(losses[0]).toMatchObject({
      kind: 'demand',
      stoodIn: 'message 1, text of the user',
      roundsLater: undefined,
    });
  });

  test('begins with questions that nobody can answer any more, where there are any', () => {
    const probe: Probe = {
      id: 'p1',
      kind: 'place',
      weight: 1,
      question: 'Which table comes next?',
      answer: 'tideTable',
      evidence: [['tideTable comes next']],
    };
    expect(lossesOf(cut, { ...missed, probes: [probe] })[0]).toEqual({
      kind: 'probe',
      what: 'Which table comes next?',
      stoodIn: 'message 4, text of the model',
      neededBy: 'whoever takes over: tideTable',
      roundsLater: undefined,
    });
  });

  test('is in the order in which it is needed', () => {
    const rounds = losses.flatMap(({ roundsLater }) => roundsLater ?? []);
    expect(rounds).toEqual(rounds.toSorted((left, right) => left - right));
    expect(rounds.length).toBeGreaterThan(2);
  });

  test('is nothing when everything is there', () => {
    const { missed: none } = scoreNeeds(needs, cut.prefix.messages);
    expect(lossesOf(cut, { ...none, probes: [] })).toEqual([]);
  });
});
