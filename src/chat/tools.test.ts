import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openWorkspace, runTool } from './tools.ts';

const base = mkdtempSync(join(tmpdir(), 'roundfold-tools-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const root = join(base, 'work');
for (const folder of ['work', 'work/deep', 'work-beside']) mkdirSync(join(base, folder));
writeFileSync(join(root, 'deep', 'notes.txt'), 'one kiln\ntwo kilns\n');
writeFileSync(join(root, '..odd'), 'a name that begins with two dots\n');
writeFileSync(join(root, 'binary'), Buffer.from([1, 0, 2]));
writeFileSync(join(base, 'work-beside', 'secret.txt'), 'kiln tamarisk\n');
symlinkSync(join(base, 'work-beside'), join(root, 'out'));
symlinkSync('out', join(root, 'twice'));
symlinkSync('deep/notes.txt', join(root, 'inside'));
const socket = createServer().listen(join(root, 'socket'));
afterAll(() => void socket.close());

async function run(name: string, input: unknown) {
  const workspace = await openWorkspace(root);
  return runTool({ type: 'tool-call', id: 'a', name, input, runBy: 'client', raw: undefined }, workspace);
}

const OUTSIDE = 'that is outside of the working directory';

describe('tools', () => {
  it.each([
    ['read_file', { path: 'deep/notes.txt' }, 'one kiln'],
    ['read_file', { path: 'inside' }, 'one kiln'],
    ['read_file', { path: '..odd' }, 'two dots'],
    ['read_file', '{"path":"deep/notes.txt"}', 'one kiln'],
    ['list_files', {}, 'deep/'],
    ['search_files', { text: 'kiln' }, 'deep/notes.txt:1: one kiln\ndeep/notes.txt:2: two kilns'],
  ])('%s %j finds %j', async (name, input, found) => {
    const answer = await run(name, input);

    expect(answer).toEqual({ text: expect.stringContaining(found), isError: false });
    expect(answer.text).not.toContain('tamarisk');
  });

  it.each([
    ['read_file', { path: '../work-beside/secret.txt' }, OUTSIDE],
    ['read_file', { path: join(base, 'work-beside', 'secret.txt') }, OUTSIDE],
    ['read_file', { path: 'out/secret.txt' }, OUTSIDE],
    ['read_file', { path: 'twice/secret.txt' }, OUTSIDE],
    ['read_file', { path: '../nothing' }, OUTSIDE],
    ['list_files', { path: 'out' }, OUTSIDE],
    ['list_files', { path: '..' }, OUTSIDE],
    ['search_files', { text: 'kiln', path: 'twice' }, OUTSIDE],
    ['read_file', { path: 'nothing' }, 'there is no such file'],
    ['read_file', { path: 'deep' }, 'that is no file'],
    ['read_file', { path: 'socket' }, 'that is no file'],
    ['read_file', { path: 'binary' }, 'that is no text file'],
    ['read_file', { path: 'a\u0000b' }, 'no such file'],
    ['search_files', {}, 'there is no text'],
    ['read_file', 'no JSON', 'no JSON object'],
    ['write_file', { path: 'x' }, 'there is no such tool'],
  ])('%s %j is refused: %s', async (name, input, words) => {
    expect(await run(name, input)).toEqual({ text: expect.stringContaining(words), isError: true });
  });
});
