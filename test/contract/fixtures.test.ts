import { describe, expect, it } from 'vitest';
import { contracts, findContract } from '../../src/contracts/registry.ts';
import { type Recognition, writeConversation } from '../../src/conversation/format.ts';
import { findFormat, formats, recogniseFormat } from '../../src/formats/registry.ts';
import { fixtureTitle } from '../fixtures/wire/fixture.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

/** Bodies that are not known by their own format alone, with every format they fit. The first is what they are taken for. */
const lookAlikes: ReadonlyMap<string, { why: string; fits: Readonly<Record<string, Recognition>> }> = new Map(
  [
    [
      'model messages (a system message that the call allows)',
      {
        why: 'both formats write texts alike, and a leading system message is usual only there',
        fits: { 'openai-chat': 'certain', 'ai-sdk-model': 'possible' },
      },
    ],
    [
      'no messages (an empty list)',
      {
        why: 'an empty list is nobody’s own',
        fits: { 'openai-chat': 'possible', 'anthropic-messages': 'possible', 'ai-sdk-model': 'possible' },
      },
    ],
    ['no messages (no list)', { why: 'there is no list', fits: {} }],
    [
      'a system message that is not allowed',
      {
        why: 'three formats write texts alike',
        fits: { 'openai-chat': 'possible', 'anthropic-messages': 'possible', 'ai-sdk-model': 'possible' },
      },
    ],
  ],
);

const bodiesWithoutList: ReadonlySet<string> = new Set(['no messages (no list)']);

/** Bodies whose one message is a mere text: written anew it becomes a list. */
const bodiesOfText: ReadonlySet<string> = new Set([
  'history that the server holds (the previous response is gone)',
]);

describe.each([...fixtureLists])('%s', (name, fixtures) => {
  const format = findFormat(name)!;
  const contract = findContract(name);
  const rows = fixtures.map((fixture) => [fixtureTitle(fixture), fixture] as const);
  const valid = rows.filter(([, { verdict }]) => verdict === 'valid');
  const invalid = rows.filter(([, { verdict }]) => verdict === 'invalid');
  const readable = rows.filter(([title]) => !bodiesWithoutList.has(title));

  it('has bodies that are accepted, and a title of its own for each body', () => {
    expect(valid.length).toBeGreaterThan(0);
    expect(new Set(rows.map(([title]) => title)).size).toBe(rows.length);
  });

  it('calls bodies invalid where there are rules to judge them by, and only there', () => {
    expect(invalid.length > 0).toBe(contract !== undefined);
  });

  it.each(contract === undefined ? [] : valid)('%s: accepted', (_, { body, context, also = [] }) => {
    const violations = contract!.check(deepFreeze(body), context);

    expect(violations.map(nameViolation)).toEqual(also.map((rule) => `warning ${rule}`));
  });

  it.each(invalid.map(([title, fixture]) => [title, fixture.rule, fixture] as const))(
    '%s: %s',
    (_, rule, { body, context, path, wording, before = [], also = [] }) => {
      const violations = contract!.check(deepFreeze(body), context);

      expect(violations.map(nameViolation)).toEqual([...before, rule, ...also].map((id) => `error ${id}`));
      expect(violations[before.length]).toMatchObject({
        path,
        message: wording ?? expect.stringContaining(' '),
      });
    },
  );

  it.each(readable)('%s: written back as the very value that was read', (_, { body }) => {
    expect(writeConversation(format.read(deepFreeze(body)))).toBe(body);
  });

  it.each(readable.filter(([title]) => !bodiesOfText.has(title)))(
    '%s: the same when its messages are put into it anew',
    (_, { body }) => {
      const { frame, messages } = format.read(deepFreeze(body));
      const list = messages.map(({ raw }) => raw);

      expect(format.replaceList(frame, list)).toEqual(body);
    },
  );

  it.each(readable)('%s: every message survives having its blocks written anew', (_, { body }) => {
    for (const message of format.read(deepFreeze(body)).messages) {
      const { raw } = format.withBlocks(message, [...message.blocks]);

      expect(format.readMessage(raw).blocks.map(withoutRaw)).toEqual(message.blocks.map(withoutRaw));
    }
  });

  it.each(rows.filter(([title]) => bodiesWithoutList.has(title)))(
    '%s: not read, having no list of messages',
    (_, { body }) => {
      expect(() => format.read(deepFreeze(body))).toThrow(
        expect.objectContaining({ code: 'input-not-understood' }),
      );
    },
  );

  it.each(rows.filter(([title]) => !lookAlikes.has(title)))(
    `%s: recognised as ${name}, of which no other format is certain`,
    (_, { body }) => {
      expect(recogniseFormat(deepFreeze(body))).toBe(format);
      const certain = recognitions(body).filter(([, recognition]) => recognition === 'certain');
      expect(certain.map(([other]) => other)).toEqual([name]);
    },
  );

  const mistakable = rows.flatMap(([title, { body }]) => {
    const likeness = lookAlikes.get(title);
    if (likeness === undefined) return [];
    const { why, fits } = likeness;
    return [[title, Object.keys(fits)[0] ?? 'nothing', why, { body, fits }] as const];
  });
  it.each(mistakable)('%s: taken for %s, because %s', (_title, taken, _why, { body, fits }) => {
    expect(recogniseFormat(deepFreeze(body))?.name ?? 'nothing').toBe(taken);
    expect(Object.fromEntries(recognitions(body))).toEqual(fits);
  });
});

describe('the registries', () => {
  it('have fixtures for every format, and rules for formats alone', () => {
    expect([...fixtureLists.keys()].sort()).toEqual(formats.map(({ name }) => name).sort());
    expect(contracts.filter(({ format }) => findFormat(format) === undefined)).toEqual([]);
  });

  it('have an exception only for fixtures that are there', () => {
    const titles = new Set([...fixtureLists.values()].flat().map(fixtureTitle));

    expect(
      [...lookAlikes.keys(), ...bodiesWithoutList, ...bodiesOfText].filter((title) => !titles.has(title)),
    ).toEqual([]);
  });
});

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
