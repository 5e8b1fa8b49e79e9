import { describe, expect, it } from 'vitest';
import { walkFaults, walkWindow } from '../support/window-walk.ts';

/** `npm run test:windows` does the same with every size of window, for 500 turns. */
const TURNS = 160;

describe.each([1000, 4000, 32_000])(
  'an agent that goes on and on in a window of %d tokens',
  (windowTokens) => {
    it.each([1, 10, 40])(
      'with rounds of %d percent of it stays inside, legal, and gathers no notes',
      async (percent) => {
        const report = await walkWindow({ windowTokens, roundShare: percent / 100, turns: TURNS });

        expect(walkFaults(report)).toEqual([]);
        expect(report.compactions).toBeGreaterThan(0);
      },
    );
  },
);
