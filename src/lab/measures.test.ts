import { expect, test } from 'vitest';
import { figureMeasures, nameOfFigure } from './measures.ts';

test('a measure has one name: its figure is the words of the name, joined', () => {
  for (const { figure, name } of figureMeasures) {
    const [first = '', ...others] = name.match(/\w+/g) ?? [];
    expect(figure).toBe([first, ...others.map((word) => word[0]?.toUpperCase() + word.slice(1))].join(''));
  }
  expect(new Set(figureMeasures.map(({ figure }) => figure)).size).toBe(figureMeasures.length);
});

test('a figure is called by its name, and what is none by itself', () => {
  expect(nameOfFigure('editLines')).toBe('edit lines');
  expect(nameOfFigure('cost')).toBe('cost');
});
