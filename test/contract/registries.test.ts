import { describe, expect, it } from 'vitest';
import { formats } from '../../src/formats/registry.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';
import { bodyFormats } from '../support/random-bodies.ts';
import { stepWriters } from '../support/step-writers.ts';

/** What the suites need to try a format; without it they would pass over the format in silence. */
describe.each(formats.map(({ name }) => name))('the format %s', (name) => {
  it('has fixtures', () => {
    expect([...fixtureLists.keys()], 'add a line to test/fixtures/wire/fixture-lists.ts').toContain(name);
  });

  it('has a writer of generated steps', () => {
    expect(Object.keys(stepWriters), 'add a line to test/support/step-writers.ts').toContain(name);
  });

  it('has a writer of random request bodies', () => {
    expect(bodyFormats, 'add a line to test/support/random-bodies.ts').toContain(name);
  });
});
