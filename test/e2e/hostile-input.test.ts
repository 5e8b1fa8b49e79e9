import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type CliResult, runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const body = (content: unknown) => JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] });

/** What every refusal has to be: understood by a person, and nothing of ours leaking. */
function expectRefusal(result: CliResult, file: string, ...words: readonly string[]): void {
  expect(result.code).toBe(3);
  expect(result.stdout).toBe('');
  for (const word of [file, ...words]) expect(result.stderr).toContain(word);
  expect(result.stderr).not.toMatch(/\n\s+at |node:internal|Error:/);
  expect(result.stderr.length).toBeLessThan(1000);
}

describe.each(['inspect', 'check'])('roundfold %s refuses with place, remedy and exit code 3', (command) => {
  it('an empty file', async () => {
    const file = folder.write('empty.json', '');

    expectRefusal(await runCli([command, file]), file, 'empty');
  });

  it('a directory', async () => {
    const path = join(folder.path, `directory-${command}`);
    mkdirSync(path);

    expectRefusal(await runCli([command, path]), path, 'directory');
  });

  it('a file that is not there', async () => {
    expectRefusal(await runCli([command, '/nowhere/at/all.json']), '/nowhere/at/all.json', 'does not exist');
  });

  it('a binary file', async () => {
    const file = folder.write(
      'binary',
      Uint8Array.from({ length: 5000 }, (_, index) => (index * 73) % 256),
    );

    expectRefusal(await runCli([command, file]), file, 'binary data');
  });

  it('text that is no JSON', async () => {
    const file = folder.write('notes.md', '# Notes\n\nNothing to see here.\n');

    expectRefusal(await runCli([command, file]), file, 'JSON');
  });

  it('JSON that is no conversation', async () => {
    const file = folder.write('settings.json', '{"theme": "dark"}');

    expectRefusal(await runCli([command, file]), file, 'no conversation');
  });

  it('nesting a million levels deep', async () => {
    const file = folder.write('deep.json', `{"messages":${'['.repeat(1_000_000)}`);

    expectRefusal(await runCli([command, file]), file, 'deep');
  });

  it('a document that ends in the middle', async () => {
    const file = folder.write('half.json', body('a question').slice(0, -9));

    expectRefusal(await runCli([command, file]), file, 'ends');
  });
});

describe.each(['inspect', 'check'])('roundfold %s lives with', (command) => {
  it.each([
    {
      what: 'keys named __proto__ and constructor',
      text: `{"__proto__":{"x":1},"messages":[{"role":"user","content":"hi","__proto__":{"role":"system"},"constructor":1}]}`,
    },
    { what: 'lone surrogates', text: body('\ud800 and \udfff').replaceAll('�', '\\ud800') },
    { what: 'NUL', text: body('a\u0000b') },
    {
      what: 'numbers beyond 2^53',
      text: `{"messages":[{"role":"user","content":"hi","n":9007199254740993}]}`,
    },
    { what: 'a byte order mark', text: `\ufeff${body('hi')}` },
    {
      what: 'Windows line ends',
      text: JSON.stringify(JSON.parse(body('hi')), null, 2).replaceAll('\n', '\r\n'),
    },
    { what: 'two values on one line', text: `${body('one')} ${body('two')}\n${body('three')}` },
  ])('$what', async ({ what, text }) => {
    const file = folder.write(`${what.replaceAll(/\W/g, '-')}.json`, text);

    expect(await runCli([command, file])).toMatchObject({ code: 0 });
  });

  it('one line of 100 MB', async () => {
    const file = folder.write(
      'long-line.json',
      body(Array.from({ length: 10 }, () => ({ type: 'text', text: 'lorem ipsum '.repeat(850_000) }))),
    );

    expect(await runCli([command, file])).toMatchObject({ code: 0 });
  });

  it('a half line in the middle of a JSONL file: the rest is read and the place is named', async () => {
    const file = folder.write(
      'half-line.jsonl',
      `${body('one')}\n${body('two').slice(0, 40)}\n${body('three')}\n`,
    );
    const { code, stderr } = await runCli([command, file]);

    expect(code).toBe(0);
    expect(stderr).toContain(`${file}:2`);
  });

  it('gzip', async () => {
    const file = folder.write('packed.json.gz', gzipSync(body('hi')));

    expect(await runCli([command, file])).toMatchObject({ code: 0 });
  });

  it('control characters: none of them reaches the terminal', async () => {
    const call = {
      id: 'x',
      type: 'function',
      function: { name: '\u001b[2Jevil\u0007', arguments: '{"path":"\\u001b]0;x\\u0007"}' },
    };
    const file = folder.write(
      'escape.json',
      JSON.stringify([{ role: 'assistant', content: null, tool_calls: [call] }]),
    );
    const { stdout, stderr } = await runCli([command, file]);

    expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
