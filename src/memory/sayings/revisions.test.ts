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

/** What took the saying's place, or took it back. */
function revokerOf(sayings: readonly Saying[], part: string): string | undefined {
  const { revokedBy } = find(sayings, part);
  return revokedBy === undefined ? undefined : sayings[revokedBy]?.text;
}

describe('what the user took back', () => {
  it('is replaced by the plan that came with the change of mind', () => {
    const sayings = read(
      user("For Ruth's importer, let's read the files one by one."),
      agent('Fine.'),
      user('Hm, actually, scratch that. We will stream them through a pipe. Forget the earlier idea.'),
      agent('Switching.'),
      user('Do you like trains?'),
    );
    expect(revokerOf(sayings, 'one by one')).toBe('We will stream them through a pipe.');
    expect(find(sayings, 'stream').revokedBy).toBeUndefined();
  });

  it('points to the newest of several changes of mind', () => {
    const sayings = read(
      user('I think we should sort by name.'),
      user('Wait, no. Let me revise. We sort by size instead, please sort by size.'),
      user('You know what, final answer: sort by date.'),
    );
    expect(revokerOf(sayings, 'by name')).toBe('You know what, final answer: sort by date.');
    expect(revokerOf(sayings, 'We sort by size')).toBe('You know what, final answer: sort by date.');
  });

  it('is found by its own words, and what was said beside it holds', () => {
    const sayings = read(
      user('Goal: open the shop in May with Ruth in charge. Approach: rent a tent on the market.'),
      agent('Understood.'),
      user('Same goal, another way. The tent on the market is off the table. We will rent a van.'),
    );
    expect(revokerOf(sayings, 'Approach')).toBeDefined();
    expect(find(sayings, 'Goal').revokedBy).toBeUndefined();
    expect(find(sayings, 'van').revokedBy).toBeUndefined();
  });

  it('is every plan, but no rule, when all of it is scratched', () => {
    const sayings = read(
      user("Plan: we'll use a tent."),
      user("Let's paint the tent red."),
      user('Never open on Sundays.'),
      user('Wait, scratch all of this. We are going to rent a van.'),
    );
    expect(revokerOf(sayings, 'Plan')).toBe('We are going to rent a van.');
    expect(revokerOf(sayings, 'red')).toBe('We are going to rent a van.');
    expect(find(sayings, 'Sundays').revokedBy).toBeUndefined();
  });

  it('is a rule too, when everything is', () => {
    const sayings = read(
      user('Never open on Sundays.'),
      user('Ignore everything we said so far. New plan: open daily.'),
    );
    expect(revokerOf(sayings, 'Never')).toBe('New plan: open daily.');
  });

  it('is the last request, where nothing stands in its place', () => {
    const sayings = read(user('Add a search box to the header.'), agent('On it.'), user('Never mind.'));
    expect(revokerOf(sayings, 'search box')).toBe('Never mind.');
    expect(find(sayings, 'Never mind').leansOn).toEqual([
      { turn: 0, text: 'Add a search box to the header.' },
    ]);
  });

  it('may be taken back within one turn', () => {
    const sayings = read(user("Let's use Redis. No wait, scratch that. Let's use SQLite."));
    expect(revokerOf(sayings, 'Redis')).toBe("Let's use SQLite.");
  });

  it('holds again when the user goes back to it', () => {
    const sayings = read(
      user("Let's use Redis for the queue."),
      user("On second thought, let's use SQLite for it."),
      user("No, let's go back to the original plan."),
    );
    expect(find(sayings, 'Redis').revokedBy).toBeUndefined();
    expect(revokerOf(sayings, 'SQLite')).toBe("No, let's go back to the original plan.");
  });

  it.each([
    { first: 'Wir nehmen Redis für die Warteschlange.', later: 'Vergiss das. Wir nehmen SQLite.' },
    { first: 'Vamos a usar Redis para la cola.', later: 'Olvida eso. Vamos a usar SQLite.' },
    { first: 'On va utiliser Redis pour la file.', later: 'Oublie ça. On va utiliser SQLite.' },
    { first: '我们用 Redis 做队列。', later: '算了，我们改用 SQLite。' },
    { first: 'Redis を使いましょう。', later: 'やっぱり、SQLite にしましょう。' },
  ])('is found in other languages: $later', ({ first, later }) => {
    expect(revokerOf(read(user(first), agent('OK.'), user(later)), 'Redis')).toContain('SQLite');
  });

  it('is what another plan about the same replaces', () => {
    const sayings = read(
      user('Please send the parcel to Kiel.'),
      agent('Sure.'),
      user('Send the parcel to Bonn instead, please.'),
    );
    expect(revokerOf(sayings, 'Kiel')).toContain('Bonn');
  });

  it.each([
    {
      title: 'code that does one thing instead of another',
      later: 'Make it return null instead of throwing.',
    },
    { title: 'a plan about something else', later: "Let's draw the chart in blue instead." },
    { title: 'a condition', later: 'If the login is too slow, add a spinner instead.' },
    { title: 'a reminder', later: "Don't forget to test the login." },
    { title: 'work from scratch', later: 'Rewrite the chart from scratch.' },
    { title: 'an addition', later: "Actually, let's also add a logout." },
    { title: 'a question', later: 'Is that your final answer?' },
  ])('is nothing by $title', ({ later }) => {
    const sayings = read(user('Fix the login, and never throw in it.'), agent('Done.'), user(later));
    expect(find(sayings, 'Fix the login').revokedBy).toBeUndefined();
  });

  it('is nothing where the user only repeats what the agent offered', () => {
    const sayings = read(
      user('I want to cancel my ticket to Kiel.'),
      agent('Why? 1. Change of plan 2. Illness'),
      user('Change of plan. Please go ahead.'),
    );
    expect(find(sayings, 'ticket').revokedBy).toBeUndefined();
  });

  it('is no rule that says the same as the replacement', () => {
    const sayings = read(
      user('Never use global variables.'),
      user('Pass arguments instead of global variables.'),
    );
    expect(find(sayings, 'Never').revokedBy).toBeUndefined();
  });
});
