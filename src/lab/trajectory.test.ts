import { describe, expect, test } from 'vitest';
import { cutBetween, tool, user } from '../../test/support/example-cut.ts';
import type { Recording } from '../transcripts/recordings.ts';
import type { RecordedCompaction } from '../transcripts/transcript.ts';
import { labCasesOf } from './measure.ts';
import { budgetFor, cutsOf, recordedCutsOf } from './trajectory.ts';

const words = 'some words of a longer text that a tool has given back '.repeat(10);

function rounds(from: number, count: number) {
  return Array.from({ length: count }, (_, index) =>
    tool('read', { path: `src/file_${from + index}.ts` }, `file_${from + index} ${words}`),
  ).flat();
}

/** Two stretches; the second one opens with a summary of the first. */
function recording(): Recording {
  const first = cutBetween([user('Start.'), ...rounds(0, 30)], []).prefix;
  const second = cutBetween([user('Summary of the first stretch.'), ...rounds(10, 30)], []).prefix;
  const opening: RecordedCompaction = {
    trigger: 'auto',
    tokensBefore: undefined,
    tokensAfter: undefined,
    summary: 'Summary of the first stretch.',
    carried: 1,
  };
  return {
    transcript: {
      reader: 'example',
      format: 'anthropic-messages',
      title: 'main',
      kind: 'main',
      model: undefined,
      notes: [],
      segments: [
        { body: undefined, origins: [], opening: undefined },
        { body: undefined, origins: [], opening },
      ],
    },
    conversations: [first, second],
  };
}

describe('cuts of a recorded session', () => {
  const cuts = cutsOf(recording(), { session: 'example', minimumTokens: 500 });

  test('five in each stretch, at 30 to 70 % of its tokens', () => {
    expect(cuts.map(({ stretch }) => stretch)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    for (const { share } of cuts) {
      expect(share).toBeGreaterThanOrEqual(0.3);
      expect(share).toBeLessThanOrEqual(0.7);
    }
  });

  test('each is where a request would be sent', () => {
    for (const { prefix, future } of cuts) {
      expect(prefix.messages.at(-1)?.role).toBe('user');
      expect(future[0]?.role).toBe('assistant');
    }
  });

  test('the future has all later stretches, without what the harness put there', () => {
    const [first] = cuts;
    expect((first?.prefix.messages.length ?? 0) + (first?.future.length ?? 0)).toBe(61 + 60);
    expect(cuts.at(-1)?.openingSummary).toBe('Summary of the first stretch.');
  });

  test('short stretches have none', () => {
    expect(cutsOf(recording(), { minimumTokens: 1_000_000 })).toEqual([]);
  });

  test('where the harness compacted, its own summary is there to be scored', () => {
    const [recorded, ...others] = recordedCutsOf(recording(), { minimumTokens: 500 });
    expect(others).toEqual([]);
    expect(recorded).toMatchObject({ harness: 'example', share: 1, stretch: 0 });
    expect(recorded?.recorded).toHaveLength(1);
    expect(recorded?.future).toHaveLength(60);
  });

  test('cases are the cuts whose futures need enough', () => {
    const cases = labCasesOf(recording(), { minimumTokens: 500 });
    expect(cases.filter(({ recorded }) => recorded !== undefined)).toHaveLength(1);
    expect(labCasesOf(recording(), { minimumNeeds: 1000 })).toEqual([]);
  });

  test('a budget is a share of what can be made smaller', () => {
    const cut = cutBetween([user('x')], []);
    expect(budgetFor({ ...cut, prefixTokens: 1000, instructionTokens: 200 }, 0.5)).toBe(600);
  });
});
