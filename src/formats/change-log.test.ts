import { expect, it } from 'vitest';
import { describeChange } from './change-log.ts';

it.each([
  ['call id', 1, '1 call id mended'],
  ['call id', 1200, '1,200 call ids mended'],
  ['tool call without a result', 18, '18 tool calls without a result mended'],
  ["block of the provider's own tools", 2, "2 blocks of the provider's own tools mended"],
  ['value that is no message', 2, '2 values that are no message mended'],
  ['list that begins with an answer', 2, '2 lists that begin with an answer mended'],
])('says of %j, %i times: %s', (what, count, words) => {
  expect(describeChange({ what, became: 'mended', count })).toBe(words);
});
