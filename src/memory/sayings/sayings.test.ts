import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { demandsOf } from '../words/demands.ts';
import { readSayings, type Saying, type SayingKind, type Turn } from './sayings.ts';

const user = (text: string): Turn => Object.freeze({ by: 'user', text });
const agent = (text: string): Turn => Object.freeze({ by: 'agent', text });
const read = (...turns: readonly Turn[]) => readSayings(Object.freeze(turns));

function find(sayings: readonly Saying[], part: string): Saying {
  const found = sayings.find(({ text }) => text.includes(part));
  if (found === undefined) throw new Error(`nobody said ${part}`);
  return found;
}

describe('kinds of sayings', () => {
  it.each<{ kind: SayingKind; text: string }>([
    { kind: 'demand', text: 'Never deploy from a laptop.' },
    { kind: 'demand', text: 'skip 2 and 3, do the others' },
    { kind: 'demand', text: 'please keep the old names' },
    { kind: 'demand', text: 'By the way, never log a token.' },
    { kind: 'decision', text: "Let's use SQLite for the first version." },
    { kind: 'decision', text: 'Ruth owns the importer, Paul owns the exporter.' },
    { kind: 'decision', text: 'Paul -> the exporter.' },
    { kind: 'decision', text: 'Final answer: the blue one.' },
    { kind: 'decision', text: "I'll go with the second option." },
    { kind: 'decision', text: 'I would like to book a table for two.' },
    { kind: 'decision', text: 'Could you rename the branch to release-2?' },
    { kind: 'decision', text: 'Actually, scratch that.' },
    { kind: 'decision', text: 'yes' },
    { kind: 'decision', text: 'option 2' },
    { kind: 'decision', text: 'Nehmen wir doch lieber Postgres, bitte ändere das' },
    { kind: 'decision', text: 'Vamos a usar Redis para la cola' },
    { kind: 'decision', text: 'On va utiliser Redis pour la file' },
    { kind: 'decision', text: '我们用 Redis 做队列。' },
    { kind: 'decision', text: 'Redis を使いましょう。' },
    { kind: 'fact', text: 'My account is ruth_b_77.' },
    { kind: 'fact', text: 'The ferry leaves on June 3rd from Kiel.' },
    { kind: 'fact', text: 'Thanks, the order number is A-2291.' },
    { kind: 'fact', text: '我的订单号是 A2291。' },
    { kind: 'question', text: 'Which of them is faster?' },
    { kind: 'question', text: 'how can we make it faster' },
    { kind: 'question', text: 'Could you explain what the cache does?' },
    { kind: 'question', text: 'Remind me what we agreed on.' },
    { kind: 'question', text: '哪个更快？' },
    { kind: 'talk', text: 'Thank you so much!' },
    { kind: 'talk', text: 'Hi there!' },
    { kind: 'talk', text: 'please continue' },
    { kind: 'talk', text: "By the way, what's your favourite season?" },
    { kind: 'talk', text: 'Side note: my coffee has gone cold.' },
    { kind: 'talk', text: 'Unrelated, but do you play chess?' },
    { kind: 'talk', text: 'I was thinking about holidays earlier.' },
    { kind: 'talk', text: "I don't remember the number right now." },
    { kind: 'talk', text: "Okay, I'll check my mail and get back to you." },
    { kind: 'talk', text: '/model' },
  ])('takes "$text" for a $kind', ({ kind, text }) => {
    expect(read(user(text)).map((saying) => ({ kind: saying.kind, text: saying.text }))).toEqual([
      { kind, text },
    ]);
  });

  it('takes a statement without names for a fact where the others talk about the same', () => {
    const said = user('the importer stops in the middle');
    expect(find(read(said), 'importer').kind).toBe('talk');
    expect(find(read(said, agent('I will look at the importer now.')), 'importer').kind).toBe('fact');
    expect(find(read(user('Fix the login. the importer stops in the middle')), 'importer').kind).toBe('fact');
  });

  it('takes what is said again and again for talk all the same', () => {
    const said = user('I was dreaming of mountains yesterday');
    expect(read(said, agent('Nice.'), said).map(({ kind }) => kind)).toEqual(['talk', 'talk']);
  });

  it('keeps a list together with the line that leads it', () => {
    const text = 'Please check these:\n- the login\n- the logout';
    expect(read(user(`Hello!\n${text}`)).map((saying) => saying.text)).toEqual(['Hello!', text]);
  });

  it('has every sentence in order, whoever spoke in between', () => {
    const sayings = read(user('Fix the login. Thanks!'), agent('Done.'), user('Never push.'));
    expect(sayings.map(({ turn, text }) => [turn, text])).toEqual([
      [0, 'Fix the login.'],
      [0, 'Thanks!'],
      [2, 'Never push.'],
    ]);
  });
});

describe('readSayings', () => {
  const piece = fc.constantFrom(
    'Never push. ',
    "Let's use tabs. ",
    'Scratch that. ',
    'Ignore everything. ',
    'that rule ',
    'yes\n',
    'option 2\n',
    '- one\n',
    'Rules:\n',
    '1. two\n',
    '不要。',
    '算了',
    '?! ',
    '“',
    '`',
  );
  const turn = fc.record({
    by: fc.constantFrom<'user' | 'agent'>('user', 'agent'),
    text: fc.array(fc.oneof(piece, fc.string())).map((pieces) => pieces.join('')),
  });

  test.prop([fc.array(turn, { maxLength: 12 })])(
    'gives pieces of the turns, in order, and points backwards',
    (turns) => {
      let place = { turn: 0, at: 0 };
      for (const [index, saying] of readSayings(turns).entries()) {
        if (saying.turn !== place.turn) place = { turn: saying.turn, at: 0 };
        const text = turns[saying.turn]?.text ?? '';
        const at = text.indexOf(saying.text, place.at);
        expect(turns[saying.turn]?.by).toBe('user');
        expect(at).not.toBe(-1);
        place = { turn: saying.turn, at: at + saying.text.length };
        if (saying.revokedBy !== undefined) expect(saying.revokedBy).toBeGreaterThan(index);
        expect(saying.leansOn.length).toBeLessThanOrEqual(3);
        for (const { turn: leanedOn, text: said } of saying.leansOn) {
          expect(leanedOn).toBeLessThanOrEqual(saying.turn);
          expect(turns[leanedOn]?.text).toContain(said);
        }
      }
    },
  );

  test.prop([fc.array(fc.oneof(piece, fc.string())).map((pieces) => pieces.join(''))])(
    'finds the demands that demandsOf finds',
    (text) => {
      const demands = readSayings([user(text)]).filter(({ kind }) => kind === 'demand');
      const said = demands.map((saying) => saying.text).join('\n');
      for (const demand of demandsOf(text)) expect(said).toContain(demand);
      expect(demands.length === 0).toBe(demandsOf(text).length === 0);
    },
  );
});
