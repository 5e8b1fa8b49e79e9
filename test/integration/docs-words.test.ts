import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandDefinition, CommandGroup } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands/registry.ts';
import { separateCommandLine } from '../../src/cli/foreign-command-line.ts';
import { readEntryPoints } from '../../tools/docs/api-pages.ts';
import { snippetsOf, writtenPages } from '../support/snippets.ts';

const pages = writtenPages();
const GLOBAL_OPTIONS = ['--help', '--version', '--no-color', '--quiet'];

test.each(pages)('%s names commands and options that exist', (page) => {
  expect(commandLines(page).flatMap(unknownWords)).toEqual([]);
});

test('a command line with a wrong word is found', () => {
  expect(unknownWords('roundfold inspct session.jsonl')).toEqual(['roundfold inspct session.jsonl: inspct']);
  expect(unknownWords('roundfold store ls --jsno')).toEqual(['roundfold store ls --jsno: --jsno']);
  expect(unknownWords('roundfold compact a.json --budget 40% --out b.json')).toEqual([]);
  expect(unknownWords('roundfold run --windw 9 pi')).toEqual(['roundfold run --windw 9 pi: --windw']);
  expect(unknownWords('roundfold run --window 9000 pi --model x')).toEqual([]);
});

test.each([...pages, ...globSync('docs/reference/**/*.md')])('links of %s lead somewhere', (page) => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(link, page));
  expect(broken).toEqual([]);
});

test.each(['README.md', 'llms.txt'])('%s leads to every guide and to the reference', (page) => {
  const text = readFileSync(page, 'utf8');
  const wanted = [...globSync('docs/*.md'), 'docs/reference/README.md'];
  expect(wanted.filter((guide) => !text.includes(`](${guide})`))).toEqual([]);
});

test('llms.txt names every entry point', () => {
  const text = readFileSync('llms.txt', 'utf8');
  expect(readEntryPoints().filter(({ name }) => !text.includes(`- [${name}](`))).toEqual([]);
});

function leadsSomewhere(link: string, page: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || headings(file).includes(anchor);
}

/** The names that headings have as targets of links. */
function headings(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const seen = new Map<string, number>();
  return lines
    .filter((line) => /^#+ /.test(line))
    .map((line) => {
      const words = line.replace(/^#+ /, '').toLowerCase();
      const name = words.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
      const before = seen.get(name) ?? 0;
      seen.set(name, before + 1);
      return before === 0 ? name : `${name}-${before}`;
    });
}

/** Lines of fenced blocks, and code between backticks, that call the command. */
function commandLines(page: string): readonly string[] {
  const fenced = snippetsOf(page).flatMap(({ text }) => text.split('\n'));
  const quoted = [...readFileSync(page, 'utf8').matchAll(/`(roundfold [^`]+)`/g)].map(
    ([, text = '']) => text,
  );
  return [...fenced, ...quoted.map((text) => text.replaceAll('\n', ' '))].flatMap((line) => {
    const bare = line.replace(/^\$ /, '').replace(/ #.*$/, '');
    const call = /(?:^|[|;&] *|-- )(roundfold [^|;&]*)/.exec(bare)?.[1];
    return call === undefined ? [] : [call.trim()];
  });
}

/** The words of a call that no command knows. What is another program's is not ours to know. */
function unknownWords(call: string): readonly string[] {
  const words = separateCommandLine(['node', ...call.split(/\s+/)], commands);
  const own = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined);
  const [, , first = '', second = '', ...rest] = own;
  const found = commands.find(({ name }) => name === first);
  if (found === undefined) {
    const isKnown = first === 'completion' || first === 'help' || GLOBAL_OPTIONS.includes(first);
    return isKnown ? [] : [`${call}: ${first}`];
  }
  const inner = isGroup(found) ? found.commands.find(({ name }) => name === second) : found;
  if (inner === undefined) return second.startsWith('--') || second === '' ? [] : [`${call}: ${second}`];
  const known = [...GLOBAL_OPTIONS, ...inner.options.flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? [])];
  return [second, ...rest]
    .filter((word) => /^--\w/.test(word) && !known.includes(word))
    .map((word) => `${call}: ${word}`);
}

function isGroup(definition: CommandDefinition | CommandGroup): definition is CommandGroup {
  return 'commands' in definition;
}
