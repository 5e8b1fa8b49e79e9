import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

/** What a program ended with; output and errors in the order in which they were written. */
export interface ProjectRun {
  readonly code: number;
  readonly output: string;
}

/** A folder as a user of the package has one: the package and its friends are installed, a session lies there. */
export interface SnippetProject {
  readonly path: string;
  write(name: string, text: string): void;
  /** Runs a line of a shell, with `roundfold` and `node` on its path. */
  run(command: string): Promise<ProjectRun>;
  remove(): void;
}

const repository = resolve(import.meta.dirname, '../..');
const FRIENDS = ['@anthropic-ai', '@types', 'openai'];

export function snippetProject(): SnippetProject {
  const path = mkdtempSync(join(tmpdir(), 'roundfold-docs-'));
  const modules = join(path, 'node_modules');
  mkdirSync(modules);
  symlinkSync(repository, join(modules, 'roundfold'));
  for (const name of FRIENDS) symlinkSync(join(repository, 'node_modules', name), join(modules, name));
  writeFileSync(join(path, 'package.json'), '{ "type": "module", "private": true }\n');
  copyFileSync(join(repository, 'examples/session.jsonl'), join(path, 'session.jsonl'));
  const programs = installPrograms(path);
  return {
    path,
    write: (name, text) => writeFileSync(join(path, name), text),
    run: (command) => runShell(command, { path, programs }),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function installPrograms(path: string): string {
  const folder = join(path, 'node_modules/.bin');
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, 'node'));
  const command = join(folder, 'roundfold');
  writeFileSync(command, `#!/bin/sh\nexec node '${join(repository, 'dist/cli/main.js')}' "$@"\n`);
  chmodSync(command, 0o755);
  return folder;
}

function runShell(
  command: string,
  { path, programs }: { readonly path: string; readonly programs: string },
): Promise<ProjectRun> {
  const env = {
    PATH: [programs, process.env['PATH'] ?? ''].join(delimiter),
    HOME: path,
    XDG_DATA_HOME: join(path, 'data'),
    XDG_STATE_HOME: join(path, 'state'),
  };
  return new Promise((done) => {
    execFile('sh', ['-c', `exec 2>&1\n${command}`], { cwd: path, env, timeout: 100_000 }, (error, stdout) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      done({ code, output: stdout });
    });
  });
}
