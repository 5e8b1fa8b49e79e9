import { describe, expect, test } from 'vitest';
import { cutBetween, said, tool, user } from '../../test/support/example-cut.ts';
import type { Message } from '../conversation/message.ts';
import { summaryMessageText } from '../conversation/summary-message.ts';
import type { Figures } from './measures.ts';
import { findNeeds } from './needs.ts';
import { readProbe } from './probes.ts';
import { examOf, scoreOutput } from './score.ts';

const old = 'const depthMetres = readDepth(berth);';
const changed = 'const depthMetres = measureDepth(berth);';
const conclusion = 'The gauge is wrong because readDepth counts the tide twice.';
const cut = cutBetween(
  [
    user('Mend the gauge. Never touch harbour.lock.'),
    ...tool('Read', { file_path: 'src/berths.ts' }, old),
    said(conclusion),
    user('Go on.'),
    ...tool('Edit', { file_path: 'src/berths.ts', old_string: old, new_string: changed }, 'ok'),
    ...tool('Bash', { command: 'npm test' }, 'Tests 1 failed'),
  ],
  [...tool('Edit', { file_path: 'src/berths.ts', old_string: changed, new_string: 'x' }, 'ok')],
);
const probes = [readProbe({ id: 'p1', evidence: [['counts the tide twice']] })];
const exam = examOf(cut, findNeeds(cut, new Set()), probes);
/** Each message is one token. */
const countMessages = (messages: readonly Message[]) => messages.length;
const counted = { ...exam, cut: { ...cut, prefixTokens: cut.prefix.messages.length } };

function figuresOf(messages: readonly Message[]): Figures {
  return scoreOutput(counted, { messages }, countMessages).figures;
}

/** A summary in front of the current turn. */
function remembered(text: string): readonly Message[] {
  return [user(summaryMessageText(text)), ...cut.prefix.messages.slice(-2)];
}

describe('the figures of a context', () => {
  test('are full when everything is there', () => {
    expect(figuresOf(cut.prefix.messages)).toMatchObject({
      kept: 1,
      probes: 1,
      names: 1,
      boundTwoWords: 1,
      boundFourWordsOrLine: 1,
      editLines: 1,
      changedFiles: 1,
      demands: 1,
      lastCheck: 1,
      decisions: 1,
      endsWithCurrentTurn: 1,
      illegal: 0,
      stablePrefix: 1,
      tokensToReadAgain: 0,
    });
  });

  test('tell what a summary left out, and what it did not', () => {
    const figures = figuresOf(remembered(`Never touch harbour.lock.\nChanged: src/berths.ts\n${changed}`));
    expect(figures).toMatchObject({
      probes: 0,
      demands: 1,
      changedFiles: 1,
      editLines: 1,
      decisions: 0,
      lastCheck: 1,
      stale: 0,
      endsWithCurrentTurn: 1,
      illegal: 0,
    });
    expect(figures.kept).toBeCloseTo(3 / cut.prefix.messages.length);
  });

  test('tell lines that a summary of ours shows as current though they were replaced', () => {
    expect(figuresOf(remembered(`${old}\n${changed}`)).stale).toBe(0.5);
    expect(figuresOf(remembered(`was: ${old}\n${changed}`)).stale).toBe(0);
    // What stays as it was is history, whatever became of it.
    expect(figuresOf(cut.prefix.messages).stale).toBeUndefined();
  });

  test('tell a context that does not end with the current turn as it was', () => {
    expect(figuresOf(cut.prefix.messages.slice(0, -2)).endsWithCurrentTurn).toBe(0);
    const copies = cut.prefix.messages
      .slice(-2)
      .map(({ raw }) => cut.prefix.format.readMessage({ ...Object(raw) }));
    expect(figuresOf([user('x'), ...copies]).endsWithCurrentTurn).toBe(1);
  });

  test('tell an output that a provider would refuse, and why', () => {
    const { figures, missed } = scoreOutput(
      counted,
      { messages: [user('x'), ...cut.prefix.messages.slice(-1)] },
      countMessages,
    );
    expect(figures.illegal).toBe(1);
    expect(missed.brokenRules.length).toBeGreaterThan(0);
  });

  test('say nothing where there was nothing to measure', () => {
    const empty = cutBetween([user('Hello.')], []);
    const plain = examOf(empty, findNeeds(empty, new Set()));
    const { figures } = scoreOutput(plain, { messages: empty.prefix.messages }, countMessages);
    expect(figures).toMatchObject({
      probes: undefined,
      names: undefined,
      editLines: undefined,
      demands: undefined,
      changedFiles: undefined,
      lastCheck: undefined,
      decisions: undefined,
      stale: undefined,
    });
  });
});

test('what is missed is told with the figures', () => {
  const { missed } = scoreOutput(counted, { messages: [user('nothing')] }, countMessages);
  expect(missed.probes.map(({ id }) => id)).toEqual(['p1']);
  expect(missed).toMatchObject({
    demands: ['Never touch harbour.lock.'],
    changedFiles: ['src/berths.ts'],
    decisions: [conclusion],
    lastCheck: { command: 'npm test' },
    staleLines: [],
  });
});
