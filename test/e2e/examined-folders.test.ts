import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { pricedSession } from '../support/priced-session.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** Threads read from so many bytes on. */
const WORTH_THREADS_BYTES = 50_000_000;

/** A large session first, a broken one, one with a half line, one that is none; enough for threads where that is asked for. */
function writeMany(
  name: string,
  isEnough: boolean,
): { readonly path: string; readonly files: readonly string[] } {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  const session = (length: number) =>
    pricedSession(
      Array.from({ length }, (_, index) => ({
        minute: index,
        sends: `hour ${index}: `.concat('tide '.repeat(1500)),
        read: 1000,
        written: 1000 + index,
      })),
    );
  const open = session(9).trimEnd().split('\n').slice(0, -1).slice(0, 16).join('\n');
  const contents = {
    'a.jsonl': session(300),
    'b.jsonl': open,
    'c.jsonl': `${session(8)}{"type":"us`,
    'd.json': '{"price":3}',
    'e.jsonl': session(7),
  };
  const files = Object.entries(contents).map(([file, content]) => folder.write(`${name}/${file}`, content));
  const more = isEnough ? Math.ceil(WORTH_THREADS_BYTES / contents['a.jsonl'].length) : 0;
  for (let index = 0; index < more; index++) folder.write(`${name}/z-${index}.jsonl`, contents['a.jsonl']);
  return { path, files };
}

describe.each(['check', 'inspect'])('%s of a folder', (command) => {
  it.each([
    { how: 'one thread', isEnough: false },
    { how: 'several threads', isEnough: true },
  ])('says of each file what it says of the file alone, in their order, with $how', async ({ isEnough }) => {
    const { path, files } = writeMany(`${command}-${isEnough}`, isEnough);
    const whole = await runCli([command, path, '--json']);
    const alone = await Promise.all(
      files.filter((file) => !file.endsWith('d.json')).map((file) => runCli([command, file, '--json'])),
    );
    const lines = whole.stdout.split('\n').filter((line) => line !== '');
    const told = lines.filter((line) => !/"type":"(?:summary|unreadable)"|\/z-\d+\.jsonl/.test(line));

    expect(told).toEqual(alone.flatMap(({ stdout }) => stdout.split('\n').filter((line) => line !== '')));
    expect(lines.filter((line) => line.includes('"type":"unreadable"'))).toHaveLength(1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'summary', unreadable: 1 });
    expect(whole.code).toBe(command === 'check' ? 1 : 0);
  });

  it('is the same for people', async () => {
    const { path, files } = writeMany(`${command}-for-people`, false);
    const whole = await runCli([command, path]);

    expect(files.map((file) => whole.stdout.includes(file))).toEqual([true, true, true, false, true]);
    expect(whole.stderr).toContain('unreadable: ');
  });
});

it('files of a folder that have no such segment are left out, and are not unreadable', async () => {
  const { path } = writeMany('segments', false);
  const people = await runCli(['inspect', path, '--segment', '2']);
  const programs = await runCli(['inspect', path, '--segment', '2', '--json']);

  expect(people.stderr.match(/^left out: .*: there is no segment 2$/gm)).toHaveLength(4);
  expect(people.stdout).toContain('1 unreadable');
  expect(programs.stdout.match(/"type":"left-out"/g)).toHaveLength(4);
  expect(people.code).toBe(0);
});
