import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const installed = join(folder.path, 'node_modules/roundfold');

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** Runs a module as a user of the package would. */
function run(code: string): string {
  const file = join(folder.path, 'user.mjs');
  writeFileSync(file, code);
  return execFileSync(process.execPath, [file], { cwd: folder.path, encoding: 'utf8' });
}

beforeAll(() => {
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder.path],
    { encoding: 'utf8' },
  );
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', [
    '-xzf',
    join(folder.path, packed.trim().split('\n').at(-1) ?? ''),
    '-C',
    installed,
    '--strip-components=1',
  ]);
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(join(folder.path, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(folder.path, 'node_modules', name));
  }
}, 60_000);

describe('the packed package', () => {
  it('runs as a command', () => {
    const request = folder.write('request.json', JSON.stringify([{ role: 'user', content: 'hello' }]));
    const output = execFileSync(process.execPath, [join(installed, 'dist/cli/main.js'), 'check', request], {
      encoding: 'utf8',
    });

    expect(output).toContain('legal');
  });

  it('is imported by each of its entry points', () => {
    const output = run(`
      import { readConversation, groupRounds, writeConversation } from 'roundfold';
      import { findContract } from 'roundfold/contracts';
      import { fileSource, readRecordings } from 'roundfold/transcripts';
      import { loadExactCounter, findModel } from 'roundfold/tokens';
      const body = { messages: [{ role: 'user', content: 'hi' }] };
      const conversation = readConversation(body);
      console.log(writeConversation(conversation) === body, groupRounds(conversation.messages).length);
      console.log(findContract('openai-chat').check(body).length, findModel('gpt-4o').windowTokens);
      console.log(typeof fileSource, typeof readRecordings);
      await loadExactCounter('o200k').catch((error) => console.log(error.code, error.remedy));
    `);

    expect(output).toMatch(/^true 1\n0 128000\nfunction function\nmissing-dependency .*gpt-tokenizer/);
  });

  it('says what is wrong in a few lines where nobody catches its error', () => {
    const code = `import { createCompactor } from 'roundfold'; createCompactor({ model: 'nobody-knows' });`;
    const { stderr } = spawnSync(process.execPath, [folder.write('wrong.mjs', code)], { encoding: 'utf8' });
    expect(stderr).toContain('RoundfoldError: nobody knows the window of "nobody-knows"');
    expect(stderr).toContain('createCompactor');
    expect(stderr.length).toBeLessThan(2500);
  });

  it('is required by CommonJS', () => {
    const file = folder.write(
      'user.cjs',
      "console.log(typeof require('roundfold').createCompactor, typeof require('roundfold/stores').sqliteStore);",
    );

    expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe('function function\n');
  });

  it.each(['node16', 'bundler'])(
    'has types for TypeScript 5.4 with %s resolution, and needs no others',
    (resolution) => {
      const entries = Object.keys(manifest.exports).filter((path) => path !== './package.json');
      const program = folder.write(
        'user.mts',
        [
          ...entries.map((path, index) => `import * as e${index} from 'roundfold${path.slice(1)}';`),
          ...entries.map((_path, index) => `export const n${index}: object = e${index};`),
          "const list = [{ role: 'user' as const, content: 'hi' }];",
          'export const same: typeof list = e0.writeConversation(e0.readConversation(list));',
        ].join('\n'),
      );
      const module = resolution === 'node16' ? 'node16' : 'esnext';
      const flags = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];
      const resolved = ['--module', module, '--moduleResolution', resolution, '--types', 'node'];
      const types = ['--typeRoots', resolve('node_modules/@types')];
      const compiler = resolve('tools/typescript54/node_modules/typescript/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [compiler, ...flags, ...resolved, ...types, program], {
        cwd: folder.path,
        encoding: 'utf8',
      });

      expect(stdout).toBe('');
    },
  );

  it('holds no tests and nothing that runs at installation', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });

    expect(files.filter((path) => path.includes('.test.'))).toEqual([]);
    expect(
      Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
    ).toEqual([]);
  });

  it('has no dependency with an install script, direct or not', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Readonly<Record<string, { dev?: boolean; hasInstallScript?: boolean; resolved?: string }>>;
    };
    const shipped = Object.entries(lock.packages).filter(
      ([path, { dev }]) => path.startsWith('node_modules/') && dev !== true,
    );

    expect(shipped.length).toBeGreaterThan(1);
    expect(shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  });
});

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8');

  it('leads to code that runs', () => {
    const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync('docs/library.md', 'utf8')) ?? [];
    const output = run(
      `const body = { messages: [{ role: 'user', content: 'hi' }] };\n${code}\nconsole.log(rounds.length, low <= tokens && tokens <= high, mended === body);`,
    );

    expect(output).toBe('1 true true\n');
  });

  it('shows a loop that runs', () => {
    const [, code] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    const output = run(
      `let messages = [{ role: 'user', content: 'hi' }];\nconst usage = undefined;\nconst before = messages;\n${code}\nconsole.log(messages === before, compactor.thresholds.windowTokens);`,
    );

    expect(output).toBe('true 1000000\n');
  });

  it('names the two commands that CI runs', () => {
    expect(readme).toContain('npm ci && npm start');
    expect(readme).toContain('npm ci && npm test');
    expect(readFileSync('.ci/run', 'utf8')).toContain('\nnpm ci && npm test\n');
  });
});
