import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import {
  bodyChoices,
  bodyFormats,
  breakages,
  breakBody,
  writeConversationOf,
} from '../support/random-bodies.ts';
import { refusals } from '../support/request-judge.ts';

/** The built command on a few broken bodies; many more go through its function in `contract/any-request.test.ts`. */
const BODIES = 4;
const SEED = 7;

describe.each(bodyFormats)('roundfold compact of a broken request in %s', (format) => {
  const bodies = fc
    .sample(fc.tuple(bodyChoices([format]), breakages), { numRuns: BODIES, seed: SEED })
    .map(([choice, breakage], number) => ({
      number,
      body: breakBody(writeConversationOf(choice), breakage),
    }));

  it.each(bodies)('number $number writes a legal one', async ({ body }) => {
    const args = ['compact', '-', '--format', format, '--budget', '30%'];
    const { code, stdout, stderr } = await runCli(args, { stdin: JSON.stringify(body) });

    expect([0, 4], stderr).toContain(code);
    expect(await refusals(format, JSON.parse(stdout))).toEqual([]);
  });
});
