import { describe, expect, it } from 'vitest';
import { materialOf } from '../../../test/support/digest-material.ts';
import { indexLines } from './index-lines.ts';
import { ORIGIN } from './sources.ts';
import { valueChances } from './value-chances.ts';

const FITTED = 0.77;

/** The chance of everything that lines of one origin name. */
function chancesIn(
  lines: readonly string[],
  origin: number = ORIGIN.result,
  title = '',
): Map<string, number> {
  const index = indexLines(materialOf({ origin, kind: 'call', title, lines }));
  const chances = valueChances(index, () => FITTED);
  return new Map(index.entities.texts.map((text, id) => [text, chances[id] ?? Number.NaN]));
}

describe('valueChances', () => {
  it('puts ids and dates before codes of places, these before numbers, and these before small ones and names', () => {
    const chances = chancesIn(['trip: NO6JO3, day: 2024-05-20, from: JFK, paid: 1859, fee: 250, who: Mia']);
    const [id, date, place, number, small, name] = ['NO6JO3', '2024-05-20', 'JFK', '1859', '250', 'Mia'].map(
      (text) => chances.get(text) ?? Number.NaN,
    );

    expect(id).toBe(date);
    expect(id).toBeGreaterThan(place!);
    expect(place).toBeGreaterThan(number!);
    expect(number).toBeGreaterThan(small!);
    expect(small).toBe(name);
    expect(name).toBeGreaterThan(0);
  });

  it.each([
    {
      what: 'keys',
      line: 'first_name: mia, address1: here, USER: me',
      names: ['first_name', 'address1', 'USER'],
    },
    {
      what: 'pieces of dates and times',
      line: 'day: 2024-05-20, at: 22:15:30',
      names: ['2024', '05', '22', '15'],
    },
    { what: 'pieces of a mail address', line: 'mail: mia.li3818@example.com', names: ['li3818'] },
    { what: 'times to the second', line: 'created: 2024-05-11T08:14:31', names: ['2024-05-11T08'] },
    {
      what: 'first words',
      line: '- Sure, I do. Could you go on? Please',
      names: ['Sure', 'Could', 'Please'],
    },
  ])('gives nothing for $what', ({ line, names }) => {
    const chances = chancesIn([line], ORIGIN.user);

    for (const name of names) expect([name, chances.get(name)]).toEqual([name, 0]);
  });

  it('takes something for a value that is one anywhere', () => {
    expect(chancesIn(['Mia is here', 'who: Mia']).get('Mia')).toBeGreaterThan(0);
    expect(chancesIn(['kind: basic_fare', 'basic_fare: 3']).get('basic_fare')).toBeGreaterThan(0);
  });

  it('takes the names of users and results, and not those that the model alone writes', () => {
    const line = 'that was Mia for sure';

    expect(chancesIn([line], ORIGIN.user).get('Mia')).toBeGreaterThan(0);
    expect(chancesIn([line], ORIGIN.said).get('Mia')).toBe(0);
  });

  it('takes everything in a line that is too long to be looked through for a value', () => {
    const names = Array.from({ length: 200_000 }, (_one, number) => `Trip${number}:`);
    const chances = chancesIn([names.join(' ')]);

    expect(chances.size).toBeGreaterThan(100_000);
    expect([...chances.values()].every((chance) => chance > 0)).toBe(true);
  });

  it('finds the values of a call in its title', () => {
    const chances = chancesIn([], ORIGIN.argument, 'get_user: user_id: mia_li_3668');

    expect(chances.get('mia_li_3668')).toBeGreaterThan(0);
    expect(chances.get('get_user')).toBe(0);
  });

  it('leaves addresses and paths to the fit', () => {
    const chances = chancesIn(['see https://example.com/a1 and src/some/file.ts']);

    expect(chances.get('https://example.com/a1')).toBe(FITTED);
    expect(chances.get('some/file.ts')).toBe(FITTED);
  });
});
