import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { langchainUpdate } from './update.ts';

interface Entry {
  readonly type: string;
  readonly id?: string;
  readonly content?: string;
}

/** The rules of LangGraph's `messagesStateReducer`, in short. */
function reduce(state: readonly Entry[], update: readonly Entry[]): readonly Entry[] {
  const start = update.findLastIndex(({ id }) => id === '__remove_all__');
  if (start >= 0) return update.slice(start + 1);
  const merged = [...state];
  const gone = new Set<string>();
  for (const entry of update) {
    const place = entry.id === undefined ? -1 : merged.findIndex(({ id }) => id === entry.id);
    if (entry.type === 'remove') {
      if (place === -1) throw new Error(`no message ${entry.id}`);
      gone.add(entry.id ?? '');
    } else if (place === -1) merged.push(entry);
    else {
      gone.delete(entry.id ?? '');
      merged[place] = entry;
    }
  }
  return merged.filter(({ id }) => !gone.has(id ?? ''));
}

function human(id: string, content = id): Entry {
  return { type: 'human', id, content };
}

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => human(id));
const fresh: Entry = { type: 'human', content: 'new' };
const removeAll = { type: 'remove', id: '__remove_all__' };

describe('langchainUpdate', () => {
  it.each([
    { why: 'nothing changed', before: [a, b], after: [a, b], update: [] },
    { why: 'the end was dropped', before: [a, b, c], after: [a], update: ['b', 'c'].map(remove) },
    { why: 'the head was dropped', before: [a, b, c], after: [b, c], update: [remove('a')] },
    { why: 'something was added', before: [a], after: [a, fresh], update: [fresh] },
    { why: 'one was changed', before: [a, b], after: [human('a', 'x'), b], update: [human('a', 'x')] },
    {
      why: 'a new one stands in front',
      before: [a, b, c],
      after: [fresh, c],
      update: [removeAll, fresh, c],
    },
    { why: 'the order changed', before: [a, b], after: [b, a], update: [removeAll, b, a] },
    { why: 'an old one has no id', before: [fresh, b], after: [b], update: [removeAll, b] },
    { why: 'an old id occurs twice', before: [a, a, b], after: [b], update: [removeAll, b] },
    { why: 'a new id occurs twice', before: [a], after: [a, b, b], update: [removeAll, a, b, b] },
    { why: 'everything goes', before: [a], after: [], update: [remove('a')] },
    { why: 'an order was carried out', before: [a, b, remove('a')], after: [b], update: [] },
    { why: 'all were removed before', before: [a, removeAll, b], after: [b, fresh], update: [fresh] },
  ])('when $why', ({ before, after, update }) => {
    expect(langchainUpdate(before, after)).toEqual(update);
  });

  it('finds the ids of serialised messages', () => {
    const before = [a, b, c, d].map((entry) => ({ type: 'human', data: entry }));

    expect(langchainUpdate(before, before.slice(2))).toEqual([remove('a'), remove('b')]);
  });

  const entry = fc.record(
    { type: fc.constant('human'), id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), content: fc.string() },
    { requiredKeys: ['type', 'content'] },
  );
  const state = fc.uniqueArray(entry, { selector: ({ id }) => id ?? Symbol('no id') });

  test.prop([state, state, fc.func(fc.boolean())])(
    'leads a reducer from what was to what is wanted',
    (before, more, isKept) => {
      const kept = before.filter((message) => isKept(message.content, message.id));
      const taken = new Set(kept.map(({ id }) => id));
      const added = more.filter(({ id }) => id === undefined || !taken.has(id));
      for (const after of [kept, [...kept, ...added], [...added, ...kept], added]) {
        expect(reduce(before, langchainUpdate(before, after) as readonly Entry[])).toEqual(after);
      }
    },
  );
});

function remove(id: string): Entry {
  return { type: 'remove', id };
}
