import { expect, test } from 'vitest';
import { probeCase } from './lab-case.ts';
import { probeSessionOf } from './probe-session.ts';
import { readProbe } from './probes.ts';

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
