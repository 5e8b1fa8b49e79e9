import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../../test/support/shapes.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { StrategyDefinition } from '../plan/strategy.ts';
import { createStrategy, strategies } from './registry.ts';
import { slidingWindow } from './sliding-window.ts';
import { summarize } from './summarize.ts';

const definitions: readonly StrategyDefinition[] = strategies;
const options = definitions.flatMap(({ name, options: specs }) =>
  Object.entries(specs).map(([option, spec]) => ({ name, option, spec })),
);

function errorOf(name: string, given: Readonly<Record<string, unknown>>): RoundfoldError {
  try {
    createStrategy(name, given);
  } catch (error) {
    if (RoundfoldError.is(error)) return error;
  }
  throw new Error('was not refused');
}

describe('the registry', () => {
  it('has every strategy once, under its own name, with a line of help', () => {
    const names = definitions.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
    expect(names[0]).toBe('ladder');
    for (const { name, summary } of definitions) {
      expect(createStrategy(name).name).toBe(name);
      expect(summary).toMatch(/^[a-z][^\n]+[^.]$/);
    }
  });

  it('names those it knows when it is asked for another', () => {
    const error = errorOf('snipp', {});

    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('"snipp"') });
    for (const { name } of definitions) expect(error.remedy).toContain(name);
  });

  it.each(definitions)(
    '$name refuses an option it does not have and names those it has',
    ({ name, options: specs }) => {
      const error = errorOf(name, { nothing: 1 });

      expect(error.message).toContain(name);
      for (const option of Object.keys(specs)) expect(error.remedy).toContain(option);
    },
  );

  it.each(options)('$name has help for $option and takes its own default', ({ name, option, spec }) => {
    expect(spec.help).toMatch(/\w/);
    expect(createStrategy(name, { [option]: spec.default }).name).toBe(name);
  });

  it.each(options)('$name refuses a bad $option by name, with a remedy', ({ name, option, spec }) => {
    const bad: Readonly<Record<string, unknown>> = {
      integer: 1.5,
      number: 'few',
      flag: 'perhaps',
      text: 5,
      choice: 'neither',
      list: 5,
    };
    const error = errorOf(name, { [option]: bad[spec.kind] });

    expect(error.code).toBe('usage');
    expect(error.message).toContain(name);
    expect(error.message).toContain(option);
    expect(error.remedy).toMatch(/\w/);
  });

  it.each(options.filter(({ spec }) => spec.kind === 'integer' || spec.kind === 'number'))(
    '$name refuses a negative $option',
    ({ name, option }) => {
      expect(errorOf(name, { [option]: -1 }).message).toContain(option);
    },
  );

  it.each([
    ['sliding-window', 'keepLast'],
    ['snip', 'keepRounds'],
    ['collapse', 'keepRounds'],
  ])('%s does not let %s be 0, which would forget everything', (name, option) => {
    expect(errorOf(name, { [option]: 0 }).message).toContain('at least 1');
  });
});

describe('a definition', () => {
  it.each(definitions)('of $name makes that strategy', (make) => {
    expect(make().name).toBe(make.name);
  });

  it('takes options as createStrategy does', async () => {
    const conversation = anthropicMessages.read(messagesOfShape('uauauauauau').map(({ raw }) => raw));
    const direct = slidingWindow({ keepLast: 6 });
    const byName = createStrategy('sliding-window', { keepLast: 6 });
    const [one, other] = await Promise.all(
      [direct, byName].map((strategy) => strategy.compact(conversation, strategyContext())),
    );

    expect(one).toMatchObject({ status: 'compacted', receipt: { messagesAfter: 7 } });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it('takes what is undefined for left out', () => {
    expect(summarize({ keepRounds: undefined, instructions: 'ports' }).name).toBe('summarize');
  });

  it.each([
    // @ts-expect-error there is no such option
    { make: () => slidingWindow({ keepNewest: 6 }), says: 'keepNewest' },
    // @ts-expect-error it is a number
    { make: () => slidingWindow({ keepLast: 'few' }), says: 'keepLast' },
    { make: () => slidingWindow({ keepLast: 0 }), says: 'at least 1' },
  ])('refuses what does not fit, when it is written and when it runs: $says', ({ make, says }) => {
    expect(make).toThrow(RoundfoldError);
    expect(make).toThrow(says);
  });
});
