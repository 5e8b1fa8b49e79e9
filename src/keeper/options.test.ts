import { expect, test } from 'vitest';
import { memoryStore } from '../stores/memory.ts';
import { createKeeper } from './keeper.ts';

test('a keeper refuses an option that does not exist, and names those that do', () => {
  const options = { store: memoryStore(), tenant: 'a', triggerTokens: 60_000 };

  expect(() => createKeeper(options)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringContaining('unknown option "triggerTokens"'),
      remedy: expect.stringContaining('trigger, target'),
    }),
  );
});

test('a keeper refuses a wire format that does not exist before a request comes', () => {
  expect(() => createKeeper({ store: memoryStore(), format: 'morse' })).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('morse') }),
  );
});
