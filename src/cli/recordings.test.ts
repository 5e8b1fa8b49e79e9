import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { exitCodes } from './exit-codes.ts';
import { eachRecording } from './recordings.ts';
import { processTerminal } from './terminal.ts';

const folder = temporaryFolder();

afterEach(() => void vi.useRealTimers());

it('tells how many files of a folder are done, once that takes longer than a second', async () => {
  mkdirSync(join(folder.path, 'many'));
  for (const name of ['a', 'b', 'c', 'd'])
    folder.write(`many/${name}.json`, '[{"role":"user","content":"hello"}]');
  vi.useFakeTimers({ toFake: ['Date'] });
  const redrawn: string[] = [];
  const terminal = {
    ...processTerminal({ color: false, quiet: true }),
    isWatched: true,
    redraw: (text: string) => void redrawn.push(text),
  };
  const given = {
    positional: [join(folder.path, 'many')],
    text: () => undefined,
    list: () => undefined,
    flag: () => false,
  };
  const seen: string[] = [];
  const ended = vi.fn();
  const code = await eachRecording(
    given,
    { terminal, json: false },
    {
      task: undefined,
      examine: () => undefined,
      tell(_, file) {
        seen.push(file);
        // The second file is done after 0.8 seconds, the third after 1.2.
        vi.setSystemTime(Date.now() + 400);
        return exitCodes.done;
      },
      endFolders: ended,
    },
  );

  expect(code).toBe(0);
  expect(seen).toHaveLength(4);
  expect(ended).toHaveBeenCalledWith(4, 0);
  // Shown before the fourth file, and wiped away before that one is told about.
  expect(redrawn).toEqual([expect.stringContaining('75.0 % of 4 files'), '']);
});
