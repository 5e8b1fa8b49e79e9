import { describe, expect, test } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { cutBetween, said, tool, user } from './example-cut.ts';
import { findValueNeeds } from './value-needs.ts';

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
