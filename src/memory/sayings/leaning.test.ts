import { describe, expect, it } from 'vitest';
import { readSayings, type Saying, type Turn } from './sayings.ts';

const user = (text: string): Turn => Object.freeze({ by: 'user', text });
const agent = (text: string): Turn => Object.freeze({ by: 'agent', text });
const read = (...turns: readonly Turn[]) => readSayings(Object.freeze(turns));

function find(sayings: readonly Saying[], part: string): Saying {
  const found = sayings.find(({ text }) => text.includes(part));
  if (found === undefined) throw new Error(`nobody said ${part}`);
  return found;
}

const leaningsOf = (sayings: readonly Saying[], part: string) =>
  find(sayings, part).leansOn.map(({ text }) => text);

describe('what a saying leans on', () => {
  it('is who is meant, where the agent only nodded', () => {
    const sayings = read(
      user('Ruth leads the importer team. Paul leads the exporter team.'),
      agent('Got it.'),
      user("Don't mix them up."),
    );
    expect(leaningsOf(sayings, 'mix')).toEqual([
      'Paul leads the exporter team.',
      'Ruth leads the importer team.',
    ]);
  });

  it('is the sentence before it, and what that one leans on', () => {
    const sayings = read(
      user(
        "Last year somebody moved the server on a holiday. It was down for days. So let's not do that again.",
      ),
    );
    expect(leaningsOf(sayings, 'not do that')).toEqual([
      'It was down for days.',
      'Last year somebody moved the server on a holiday.',
    ]);
  });

  it('is the rule that is pointed to, not what only stresses it', () => {
    const sayings = read(
      user('Never ship without a review. That is a hard rule.'),
      agent('Noted.'),
      user('OK, given that rule, draft the plan.'),
    );
    expect(leaningsOf(sayings, 'draft')).toEqual(['Never ship without a review.']);
    expect(leaningsOf(sayings, 'hard rule')).toEqual(['Never ship without a review.']);
  });

  it('is the rule about the same thing, where several could be meant', () => {
    const sayings = read(
      user('For the importer: never overwrite a file.'),
      user('For the exporter: never write twice.'),
      user('Apply the same rule as for the importer here too.'),
    );
    expect(leaningsOf(sayings, 'Apply')).toEqual(['For the importer: never overwrite a file.']);
  });

  it.each([
    { text: 'yes', leansOn: ['Shall I delete the old backups as well?'] },
    { text: 'option 2', leansOn: ['2. keep the newest backup'] },
    {
      text: 'skip 1 and 3, do the rest',
      leansOn: ['1. compress the backups', '3. move them to the archive'],
    },
    { text: "let's do that", leansOn: ['Shall I delete the old backups as well?'] },
  ])('is what the agent asked or listed: $text', ({ text, leansOn }) => {
    const answer = agent(
      'We could:\n1. compress the backups\n2. keep the newest backup\n3. move them to the archive\n\nShall I delete the old backups as well?',
    );
    expect(leaningsOf(read(answer, user(text)), text)).toEqual(leansOn);
  });

  it('is also what a short question of the agent is about', () => {
    const answer = agent('I would move the three tables into one schema.\n```sql\nSELECT 1;\n```\nShould I?');
    expect(leaningsOf(read(answer, user('yes please')), 'yes')).toEqual([
      'Should I?',
      'I would move the three tables into one schema.',
    ]);
  });

  it('is the line that leads its list', () => {
    const text = 'Some notes:\n- the parser is old\n- never call the parser twice';
    expect(leaningsOf(read(user(text)), 'twice')).toEqual(['Some notes:']);
  });

  it('is nothing for a sentence that can be understood by itself', () => {
    const sayings = read(
      user('Fix the login.'),
      agent('Done. Anything else?'),
      user('Rename the file before you move it.'),
    );
    expect(leaningsOf(sayings, 'Rename')).toEqual([]);
  });
});
