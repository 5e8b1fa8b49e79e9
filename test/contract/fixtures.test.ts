import { describe, expect, it } from 'vitest';
import { contracts, findContract } from '../../src/contracts/registry.ts';
import { type Recognition, writeConversation } from '../../src/core/format.ts';
import { findFormat, formats, recogniseFormat } from '../../src/formats/registry.ts';
import { deepFreeze } from '../../src/testing/deep-freeze.ts';
import { fixtureTitle, type WireFixture } from '../fixtures/wire/fixture.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';

/** Which numbers of the conformance list belong to which format. */
const numbersByFormat: Readonly<Record<string, readonly number[]>> = {
  'anthropic-messages': numbersBetween(1, 32),
  'openai-chat': numbersBetween(33, 40),
  'openai-responses': numbersBetween(41, 48),
  gemini: numbersBetween(49, 52),
  'ai-sdk-model': [53, 55],
  'ai-sdk-ui': [54],
  langchain: [56, 57],
};

/** Bodies that are not known by their own format alone, with every format they fit. The first is what they are taken for. */
const lookAlikes: ReadonlyMap<string, { why: string; fits: Readonly<Record<string, Recognition>> }> = new Map(
  [
    [
      '29 a-system-first',
      {
        why: 'a leading system message is refused here and usual there',
        fits: { 'openai-chat': 'certain', 'ai-sdk-model': 'possible' },
      },
    ],
    [
      '53 v-model-messages (a system message that the call allows)',
      {
        why: 'both formats write texts alike, and a leading system message is usual only there',
        fits: { 'openai-chat': 'certain', 'ai-sdk-model': 'possible' },
      },
    ],
    [
      '55 v-empty (empty messages)',
      {
        why: 'an empty list is nobody’s own',
        fits: { 'openai-chat': 'possible', 'anthropic-messages': 'possible', 'ai-sdk-model': 'possible' },
      },
    ],
    ['55 v-empty (no messages)', { why: 'there is no list', fits: {} }],
    [
      '55 v-system (system in messages)',
      {
        why: 'three formats write texts alike',
        fits: { 'openai-chat': 'possible', 'anthropic-messages': 'possible', 'ai-sdk-model': 'possible' },
      },
    ],
  ],
);

const bodiesWithoutList: ReadonlySet<string> = new Set(['55 v-empty (no messages)']);

describe.each([...fixtureLists])('%s', (name, fixtures) => {
  const format = findFormat(name)!;
  const contract = findContract(name);
  const rows = fixtures.map((fixture) => ({ title: fixtureTitle(fixture), fixture }));
  const judged = contract === undefined ? [] : rows;

  it('has the fixtures of its numbers, each under a title of its own', () => {
    expect(numbersOf(fixtures)).toEqual(numbersByFormat[name]);
    expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
  });

  it('calls no body invalid without rules to judge it by', () => {
    expect(
      fixtures.filter(({ verdict }) => contract === undefined && verdict === 'invalid').map(fixtureTitle),
    ).toEqual([]);
  });

  it.each(judged.filter(({ fixture }) => fixture.verdict === 'valid'))('$title: accepted', ({ fixture }) => {
    const violations = contract!.check(deepFreeze(fixture.body), fixture.context);

    expect(violations.map(nameViolation)).toEqual((fixture.also ?? []).map((rule) => `warning ${rule}`));
  });

  it.each(judged.filter(({ fixture }) => fixture.verdict === 'invalid'))(
    '$title: $fixture.rule',
    ({ fixture: { body, context, rule, path, wording, before = [], also = [] } }) => {
      const violations = contract!.check(deepFreeze(body), context);

      expect(violations.map(nameViolation)).toEqual([...before, rule, ...also].map((id) => `error ${id}`));
      expect(violations[before.length]).toMatchObject({
        rule,
        path,
        message: wording ?? expect.stringContaining(' '),
      });
    },
  );

  it.each(rows.filter(({ title }) => !bodiesWithoutList.has(title)))(
    '$title: written back as the very value that was read',
    ({ fixture: { body } }) => {
      expect(writeConversation(format.read(deepFreeze(body)))).toBe(body);
    },
  );

  it.each(rows.filter(({ title }) => !bodiesWithoutList.has(title)))(
    '$title: every message survives having its blocks written anew',
    ({ fixture: { body } }) => {
      for (const message of format.read(deepFreeze(body)).messages) {
        const { raw } = format.withBlocks(message, [...message.blocks]);

        expect(format.readMessage(raw).blocks.map(withoutRaw)).toEqual(message.blocks.map(withoutRaw));
      }
    },
  );

  it.each(rows.filter(({ title }) => bodiesWithoutList.has(title)))(
    '$title: not read, having no list of messages',
    ({ fixture: { body } }) => {
      expect(() => format.read(deepFreeze(body))).toThrow(
        expect.objectContaining({ code: 'input-not-understood' }),
      );
    },
  );

  it.each(rows.filter(({ title }) => !lookAlikes.has(title)))(
    `$title: recognised as ${name}, of which no other format is certain`,
    ({ fixture: { body } }) => {
      expect(recogniseFormat(deepFreeze(body))).toBe(format);
      const certain = recognitions(body).filter(([, recognition]) => recognition === 'certain');
      expect(certain.map(([other]) => other)).toEqual([name]);
    },
  );

  it.each(
    rows.flatMap((row) => {
      const likeness = lookAlikes.get(row.title);
      return likeness === undefined ? [] : [{ ...row, ...likeness, taken: Object.keys(likeness.fits)[0] }];
    }),
  )('$title: taken for $taken, because $why', ({ fixture: { body }, fits, taken }) => {
    expect(recogniseFormat(deepFreeze(body))?.name).toBe(taken);
    expect(Object.fromEntries(recognitions(body))).toEqual(fits);
  });
});

describe('the registries', () => {
  it('have fixtures for every format, and rules for formats alone', () => {
    expect([...fixtureLists.keys()].sort()).toEqual(formats.map(({ name }) => name).sort());
    expect(contracts.filter(({ format }) => findFormat(format) === undefined)).toEqual([]);
  });

  it('have fixtures for every number from 1 to 57', () => {
    expect(numbersOf([...fixtureLists.values()].flat())).toEqual(numbersBetween(1, 57));
  });

  it('have an exception only for fixtures that are there', () => {
    const titles = new Set([...fixtureLists.values()].flat().map(fixtureTitle));

    expect([...lookAlikes.keys(), ...bodiesWithoutList].filter((title) => !titles.has(title))).toEqual([]);
  });
});

function numbersBetween(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function numbersOf(fixtures: readonly WireFixture[]): readonly number[] {
  return [...new Set(fixtures.map(({ number }) => number))].sort((left, right) => left - right);
}

function nameViolation({ severity, rule }: { severity: string; rule: string }): string {
  return `${severity} ${rule}`;
}

/** The formats that the value fits, in the order of the registry. */
function recognitions(value: unknown): readonly (readonly [name: string, recognition: Recognition])[] {
  return formats
    .map((format) => [format.name, format.recognise(value)] as const)
    .filter(([, recognition]) => recognition !== 'no');
}

function withoutRaw({ raw: _raw, ...view }: { readonly raw: unknown }): object {
  return view;
}
