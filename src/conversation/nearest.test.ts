import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const names = ['ladder', 'summarize', 'collapse-reads', 'collapse', 'sliding-window', 'none'];

it.each([
  { word: 'lader', meant: 'ladder' },
  { word: 'alddre', meant: 'ladder' },
  { word: 'Ladder', meant: 'ladder' },
  { word: 'summarise', meant: 'summarize' },
  { word: 'colapse', meant: 'collapse' },
  { word: 'sliding_window', meant: 'sliding-window' },
  { word: 'sliding', meant: 'sliding-window' },
  { word: 'magic', meant: undefined },
  { word: 'x', meant: undefined },
  { word: '', meant: undefined },
  { word: 'ladder'.repeat(5000), meant: undefined },
])('$word means $meant', ({ word, meant }) => {
  expect(nearest(word, names)).toBe(meant);
});
