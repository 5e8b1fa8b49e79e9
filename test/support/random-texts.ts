import fc from 'fast-check';

const SENTENCES: readonly string[] = [
  'The harbour office asked for the tide tables of Brest and Le Havre before noon.',
  'Never touch the file tides.lock, whatever the tests say.',
  'Actually, scratch that: use the gauge readings instead of the forecast.',
  'I have read the module and the error comes from the second branch.',
  'What is left to do after the migration?',
];

/** Whole lines of each kind, from which texts of any length are cut. */
const MATERIAL: readonly string[] = [
  SENTENCES.join(' '),
  Array.from(
    { length: 12 },
    (_, line) => `export const draught${line} = soundings.at(${line * 37}).metres; // berth ${line}`,
  ).join('\n'),
  Array.from({ length: 12 }, (_, line) => `src/harbour/berth-${line}.ts:${line * 11}: TypeError: null`).join(
    '\n',
  ),
  JSON.stringify({ berths: [1, 2, 3], '"odd"': { depth: -4.5, note: 'a\\b\n' } }),
  '日本語のテキストと絵文字 🙂🛥️ naïve — “quotes” \u2028 הפוך',
  '<summary>&lt;b&gt;</summary> ```ts\nconst a = 1;\n``` ## Heading\n- item',
];

/** Texts that are easily taken for nothing, though a provider takes them. */
const NEARLY_NOTHING: readonly string[] = ['.', '0', 'ok', ' a', '\u200b', '-', 'null', '{}'];

/** Short texts are the rule; long ones are frequent enough that budgets bite. */
const length = fc.oneof(
  { withCrossShrink: true },
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 4, arbitrary: fc.integer({ min: 40, max: 400 }) },
  { weight: 2, arbitrary: fc.integer({ min: 400, max: 1500 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1500, max: 5000 }) },
);

/** Texts of one to some thousand characters that hold more than blanks and do not end in one. */
export const randomText: fc.Arbitrary<string> = fc.oneof(
  { withCrossShrink: true },
  {
    weight: 12,
    arbitrary: fc.tuple(fc.nat(MATERIAL.length - 1), length).map(([kind, size]) => cutText(kind, size)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...NEARLY_NOTHING) },
);

function cutText(kind: number, size: number): string {
  const material = MATERIAL[kind] ?? '';
  const copies = Array.from(
    { length: Math.ceil(size / material.length) },
    (_, copy) => `${copy} ${material}`,
  );
  // Whole characters: half of a pair is no text that a provider takes.
  return copies.join('\n').slice(0, size).toWellFormed().trimEnd() || '1';
}
