import { describe, expect, it } from 'vitest';
import { pricedSession } from '../../test/support/priced-session.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { readRecordingsOf } from '../transcripts/recordings.ts';
import { detailsOf, mergeDetails, type SessionDetails } from './session-details.ts';

const folder = temporaryFolder();

async function detailsIn(text: string): Promise<SessionDetails> {
  const recordings = readRecordingsOf(folder.write('session.jsonl', text));
  for await (const details of detailsOf(recordings, { isReplayed: false })) return details;
  throw new Error('no session in the file');
}

const requests = (length: number, firstMinute = 0) =>
  Array.from({ length }, (_, index) => ({
    minute: firstMinute + index,
    sends: `Hour ${index}: `.concat('the tide comes in. '.repeat(40)),
    read: index * 600,
    written: 600,
  }));

describe('the details of a session', () => {
  it('say what was spent until each response and on each day, adding up to its cost', async () => {
    const { money, spent, days } = await detailsIn(pricedSession(requests(200)));

    expect(spent.length).toBeLessThanOrEqual(61);
    expect(spent.at(-1)).toMatchObject({ response: 200 });
    expect(spent.at(-1)?.dollars).toBeCloseTo(money.cost.dollars, 9);
    expect(days.reduce((sum, [, dollars]) => sum + dollars, 0)).toBeCloseTo(money.cost.dollars, 9);
    expect(spent.map(({ dollars }) => dollars)).toEqual(
      spent.map(({ dollars }) => dollars).toSorted((left, right) => left - right),
    );
  });

  it('say what a compaction would leave, by what it is spent on', async () => {
    const { compacted } = await detailsIn(pricedSession(requests(60)));
    const { before, after } = compacted ?? {};

    expect(after?.tokens).toBeLessThanOrEqual((before?.tokens ?? 0) / 2);
    const sum = after?.parts.reduce((total, { tokens }) => total + tokens, 0) ?? 0;
    expect(Math.abs(sum - (after?.tokens ?? 0))).toBeLessThan(0.05 * sum);
  });

  it('say that nothing can be made smaller where there is one message', async () => {
    const { compacted } = await detailsIn(`${pricedSession(requests(1)).split('\n')[0]}\n`);
    expect(compacted).toBeUndefined();
  });

  it('survive JSON, in which they are kept', async () => {
    const details = await detailsIn(pricedSession(requests(5)));
    // Keys without a value are the same as no keys.
    expect(JSON.parse(JSON.stringify(details))).toEqual(JSON.parse(JSON.stringify(structuredClone(details))));
    expect(JSON.stringify(details)).not.toContain('null');
  });
});

describe('a session whose sub-agents have files of their own', () => {
  it('costs what all of them cost, in the order of time', async () => {
    const main = await detailsIn(pricedSession(requests(30)));
    const other = await detailsIn(pricedSession(requests(10, 5)));
    const merged = mergeDetails(main, [other]);
    const dollars = main.money.cost.dollars + other.money.cost.dollars;

    expect(merged.money.cost.dollars).toBeCloseTo(dollars, 9);
    expect(merged.money.models).toHaveLength(1);
    expect(merged.money.spentOn.reduce((sum, spent) => sum + spent.dollars, 0)).toBeCloseTo(dollars, 9);
    expect(merged.spent.at(-1)).toMatchObject({ response: 40 });
    expect(merged.spent.at(-1)?.dollars).toBeCloseTo(dollars, 9);
    expect(merged.inspection).toBe(main.inspection);
  });
});
