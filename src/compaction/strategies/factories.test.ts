import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import * as factories from './factories.ts';
import { createStrategy, strategies } from './registry.ts';

const names = new Set(strategies.map(({ name }) => name));
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const all = Object.entries(factories).map(([name, make]) => ({ name, make, known: kebab(name) }));

describe('factories', () => {
  it.each(all)('$name makes the strategy that the registry has as $known', ({ make, known }) => {
    expect(names).toContain(known);
    expect(make().name).toBe(known);
  });

  it('take options as the registry does', async () => {
    const conversation = anthropicMessages.read(messagesOfShape('uauauauauau').map(({ raw }) => raw));
    const direct = factories.slidingWindow({ keepLast: 6 });
    const byName = createStrategy('sliding-window', { keepLast: 6 });
    const [one, other] = await Promise.all(
      [direct, byName].map((strategy) => strategy.compact(conversation, strategyContext())),
    );

    expect(one).toMatchObject({ status: 'compacted', receipt: { messagesAfter: 7 } });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it('take what is undefined for left out', () => {
    expect(factories.summarize({ keepRounds: undefined, instructions: 'ports' }).name).toBe('summarize');
  });

  it.each([
    // @ts-expect-error there is no such option
    { make: () => factories.slidingWindow({ keepNewest: 6 }), says: 'keepNewest' },
    // @ts-expect-error it is a number
    { make: () => factories.slidingWindow({ keepLast: 'few' }), says: 'keepLast' },
    { make: () => factories.slidingWindow({ keepLast: 0 }), says: 'at least 1' },
  ])('refuse what does not fit, when it is written and when it runs: $says', ({ make, says }) => {
    expect(make).toThrow(RoundfoldError);
    expect(make).toThrow(says);
  });
});
