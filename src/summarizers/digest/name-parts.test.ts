import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { NameParts, takeParts } from './name-parts.ts';
import { nameTableOf } from './name-table.ts';

function partsOf(text: string): readonly string[] {
  const parts = new Set<string>();
  takeParts(text, parts);
  return [...parts];
}

describe('takeParts', () => {
  it.each([
    { text: 'sessionStateStore', parts: ['session', 'state', 'store'] },
    { text: 'MAX_SIZE of HTTPServer2', parts: ['max', 'size', 'httpserver2'] },
    { text: 'ÜberGröße, ab', parts: ['über', 'größe'] },
    { text: 'src/session-store.ts', parts: ['src', 'session', 'store'] },
  ])('finds the parts of “$text”', ({ text, parts }) => {
    expect(partsOf(text)).toEqual(parts);
  });
});

describe('NameParts', () => {
  const unit = fc.constantFrom(...'abABxyZ12_./-éÉİßΣ漢');
  test.prop([
    fc.uniqueArray(fc.string({ unit, minLength: 1, maxLength: 30 }), { maxLength: 30 }),
    fc.nat(30),
  ])('finds in names what is found in texts', (names, wanted) => {
    const parts = new NameParts(nameTableOf(names));
    const known = [...new Set(names.flatMap(partsOf))];
    const some = new Set([...partsOf(names[wanted] ?? ''), 'nowhere']);

    expect([...parts.among(new Set(known))]).toEqual(known.map(() => 1));
    expect([...parts.among(some)]).toEqual(known.map((part) => (some.has(part) ? 1 : 0)));
    expect(parts.weights()).toHaveLength(known.length);
    expect(parts.ends.length).toBe(names.length);
  });

  it('counts a part for the more, the fewer names have it', () => {
    const parts = new NameParts(nameTableOf(['sessionStore', 'sessionState', 'sessionTable']));
    const [session, ...others] = parts.weights();

    expect(session).toBeCloseTo(Math.log(2));
    for (const weight of others) expect(weight).toBeCloseTo(Math.log(4));
  });
});
