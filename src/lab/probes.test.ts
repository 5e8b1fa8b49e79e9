import { describe, expect, test } from 'vitest';
import { probeCase } from './measure.ts';
import { type Probe, probeSessionOf, readProbe, scoreProbes } from './probes.ts';

function probe(evidence: readonly (readonly string[])[], given: Partial<Probe> = {}): Probe {
  return { id: 'p', kind: 'state', weight: 1, question: '', answer: '', evidence, ...given };
}

describe('a probe is answered', () => {
  const far = '. '.repeat(400);

  test.each<[string, string, boolean]>([
    ['when one text of every group is there', 'The tests fail: 3 failures in mooring.test', true],
    ['when another text of a group is there', 'three failures, all of them in mooring.test', true],
    ['whatever case and white space are', '3\n   FAILURES in\tMOORING.test', true],
    ['not when a group is missing', '3 failures somewhere', false],
    ['not when the groups stand far apart', `3 failures ${far} mooring.test`, false],
    ['when they stand together in one of several places', `3 failures ${far} mooring.test: 3 failures`, true],
  ])('%s', (_, text, isAnswered) => {
    const asked = probe([['3 failures', 'three failures'], ['mooring.test']]);
    expect(scoreProbes([asked], text).share).toBe(isAnswered ? 1 : 0);
  });

  test('only by a window that holds all of its evidence', () => {
    const asked = probe([['one'], ['two'], ['three']]);
    const spread = ['one', 'two', 'three'].join(' '.padEnd(200, '-'));
    expect(scoreProbes([asked], spread).share).toBe(1);
    expect(scoreProbes([asked], spread.replaceAll('-', '--')).share).toBe(0);
  });
});

test('answers count by weight, and what is missed is told', () => {
  const light = probe([['lantern']], { id: 'light' });
  const heavy = probe([['anchor']], { id: 'heavy', weight: 3 });
  const score = scoreProbes([light, heavy], 'the lantern is lit');
  expect(score.share).toBe(0.25);
  expect(score.missed.map(({ id }) => id)).toEqual(['heavy']);
});

describe('a probe that somebody has written', () => {
  test('needs nothing but evidence', () => {
    expect(readProbe({ evidence: [['a']] }, { line: 4 })).toEqual({
      id: 'line 4',
      kind: '',
      weight: 1,
      question: '',
      answer: '',
      evidence: [['a']],
    });
  });

  test('keeps what it says', () => {
    const written = probe([['a', 'b'], ['c']], { id: 'x', weight: 2, question: 'Which?', answer: 'a or b' });
    expect(readProbe(written)).toEqual(written);
  });

  test.each([
    ['no object', 'text'],
    ['no evidence', { question: 'Which?' }],
    ['an empty list', { evidence: [] }],
    ['an empty group', { evidence: [[]] }],
    ['a text where a group belongs', { evidence: ['a'] }],
    ['an empty text, which stands everywhere', { evidence: [[' ']] }],
  ])('is refused for %s, with its place', (_, value) => {
    expect(() => readProbe(value, { source: 'x.probes.jsonl', line: 2 })).toThrow(
      expect.objectContaining({
        code: 'input-not-understood',
        place: { source: 'x.probes.jsonl', line: 2 },
      }),
    );
  });
});

const body = {
  messages: [{ role: 'user', content: 'Please look at harbourTable in the chart.' }],
  future: [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'Grep', input: { pattern: 'harbourTable' } }],
    },
  ],
};

test('a session with probes is cut where its messages end, and needs what its future used', () => {
  const probes = [readProbe({ evidence: [['harbourTable']] })];
  const session = probeSessionOf('quay', body, probes);
  expect(session.cut).toMatchObject({ session: 'quay', share: 1, instructionTokens: 0 });
  expect(session.cut.prefix.messages).toHaveLength(1);
  expect(session.cut.future).toHaveLength(1);
  expect(probeCase(session, (messages) => 100 * messages.length)).toMatchObject({
    cut: { prefixTokens: 100 },
    probes,
    needs: { names: [{ name: 'harbourTable' }] },
  });
});

test('a future may be left out', () => {
  expect(probeSessionOf('quay', { messages: body.messages }, []).cut.future).toEqual([]);
});

test.each([
  ['a body that is none', 'text'],
  ['a future that is no list', { ...body, future: 'soon' }],
])('%s is refused', (_, wrong) => {
  expect(() => probeSessionOf('quay', wrong, [])).toThrow(
    expect.objectContaining({ code: 'input-not-understood' }),
  );
});
