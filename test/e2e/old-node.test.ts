import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** A Node on this machine that is older than the oldest that roundfold runs on. */
function findOldNode(): { readonly path: string; readonly version: string } | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.flatMap((folder) => {
    try {
      if (!readdirSync(folder).includes('node')) return [];
      const path = join(folder, 'node');
      return [{ path, version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1) }];
    } catch {
      return [];
    }
  });
  return found.find(({ version }) => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    return major < 22 || (major === 22 && minor < 18);
  });
}

describe('a Node.js that is too old', () => {
  it.each([['inspect', 'session.jsonl'], ['--version'], []])('is told in one sentence: %s', (...args) => {
    const old = findOldNode();
    if (old === undefined) {
      process.stdout.write('skipped: no Node.js older than 22.18 is on the PATH\n');
      return;
    }
    const run = () => execFileSync(old.path, [main, ...args], { encoding: 'utf8', stdio: 'pipe' });

    expect(run).toThrow(
      expect.objectContaining({
        status: 1,
        stdout: '',
        stderr: `error roundfold needs Node.js 22.18 or newer, and this is ${old.version}\n      Install a newer Node.js from https://nodejs.org, then run it again.\n`,
      }),
    );
  });
});
