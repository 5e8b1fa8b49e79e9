import { describe, expect, test } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import { cutBetween, said, tool, user } from '../../test/support/example-cut.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { findNeeds, findValueNeeds } from './needs.ts';

const nothing: ReadonlySet<string> = new Set();

describe('what the future needs', () => {
  test('a name of a later call counts when the prefix shows it', () => {
    const cut = cutBetween(
      [user('please look at the function loadConfig')],
      [...tool('grep', { pattern: 'loadConfig|otherName' }, 'found')],
    );
    const needs = findNeeds(deepFreeze(cut), nothing);
    expect(needs.names.map(({ name, source, usedAt }) => [name, source, usedAt])).toEqual([
      ['loadConfig', 'user', 0],
    ]);
  });

  test('a name counts as a whole word only', () => {
    const cut = cutBetween([user('see loadConfigFile')], [...tool('grep', { pattern: 'loadConfig' }, '')]);
    expect(findNeeds(cut, nothing).names).toEqual([]);
  });

  test('what a result or the user showed again before its use is no need', () => {
    const prefix = [user('firstName secondName thirdName')];
    const shown = cutBetween(prefix, [
      ...tool('list', {}, 'here is firstName'),
      user('and secondName'),
      ...tool('grep', { pattern: 'firstName secondName thirdName' }, ''),
    ]);
    expect(findNeeds(shown, nothing).names.map(({ name }) => name)).toEqual(['thirdName']);
  });

  test('what the model itself says again is still from memory', () => {
    const cut = cutBetween(
      [user('use firstName')],
      [said('I will look for firstName'), ...tool('grep', { pattern: 'firstName' }, '')],
    );
    expect(findNeeds(cut, nothing).names.map(({ name }) => name)).toEqual(['firstName']);
  });

  test('generic names count for nothing', () => {
    const cut = cutBetween([user('README.md')], [...tool('read', { path: 'README.md' }, '')]);
    expect(findNeeds(cut, new Set(['README.md'])).names).toEqual([]);
  });

  test('a name is bound by two plain words on its line, within 100 characters', () => {
    const far = 'x '.repeat(60);
    const cut = cutBetween(
      [user(`the retry counter maxRetries\nthe\nloneName\ntwo words ${far}farName`)],
      [...tool('grep', { pattern: 'maxRetries loneName farName' }, '')],
    );
    const names = findNeeds(cut, nothing).names;
    expect(names.map(({ name, hasTwoWords }) => [name, hasTwoWords])).toEqual([
      ['maxRetries', true],
      ['loneName', false],
      ['farName', false],
    ]);
    expect([...(names[0]?.companions ?? [])]).toEqual(['retry', 'counter']);
  });

  test('lines of later edits count when the prefix shows them and nothing showed or wrote them since', () => {
    const [seen, again, short] = ['  const first = compute(1);', '  const second = compute(2);', '  }'];
    const cut = cutBetween(
      [...tool('read', { path: 'a.ts' }, `   1→${seen}\n   2→${again}\n   3→${short}`)],
      [
        ...tool('write', { path: 'b.ts', content: again }, 'ok'),
        ...tool(
          'edit',
          { path: 'a.ts', old_string: [seen, again, short, 'not in the prefix at all'].join('\n') },
          'ok',
        ),
      ],
    );
    const { editLines } = findNeeds(cut, nothing);
    expect(editLines.map(({ line }) => line)).toEqual([seen]);
    expect(editLines[0]?.sourceTokens).toBeGreaterThan(10);
  });

  test('the demands of the user and the changed files of the prefix are kept by name', () => {
    const cut = cutBetween(
      [
        user('Fix it. Never touch the lock file.'),
        ...tool('edit', { file_path: '/p/src/a.ts', old_string: 'x' }, 'ok'),
      ],
      [],
    );
    expect(findNeeds(cut, nothing)).toMatchObject({
      demands: ['Never touch the lock file.'],
      changedFiles: ['src/a.ts'],
    });
  });
});

const system = anthropicMessages.readMessage({ role: 'system', content: 'The fee is 50. Hubs: ABC.' });

describe('values that a service needs later', () => {
  test('ids, names, dates and amounts that the user or a tool told', () => {
    const cut = cutBetween(
      [user('I am Ada Byron, on 2026-03-01.'), ...tool('find', {}, '{"id": "ZX81QL", "price": 120}')],
      [
        ...tool(
          'book',
          {
            id: 'ZX81QL',
            name: 'Ada Byron',
            date: '2026-03-01',
            pay: [{ amount: 120 }],
            bags: 2,
            cabin: 'economy',
          },
          'ok',
        ),
      ],
    );
    expect(findValueNeeds(cut).names.map(({ name, kind }) => [name, kind])).toEqual([
      ['ZX81QL', 'code'],
      ['Ada Byron', 'proper-name'],
      ['2026-03-01', 'date'],
      ['120', 'amount'],
    ]);
  });

  test('what instructions say, or only the model said, is no need', () => {
    const cut = cutBetween(
      [system, user('Help, from ABC please.'), said('Your total is 310.')],
      [...tool('pay', { amount: 310, fee: 50, hub: 'ABC' }, 'ok')],
    );
    expect(findValueNeeds(cut).names).toEqual([]);
  });
});
