import { readdirSync, readFileSync } from 'node:fs';

/** A fenced block of a page. */
export interface Snippet {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** `<!-- run -->` above the block. */
  readonly runs: boolean;
  /** `<!-- file NAME -->` above the block: what it is called in the folder of the page. */
  readonly file: string | undefined;
  readonly text: string;
}

/** The pages that people have written: the generated ones are held to their generator instead. */
export function writtenPages(): readonly string[] {
  const guides = readdirSync('docs').filter((name) => name.endsWith('.md'));
  return ['README.md', 'llms.txt', ...guides.map((name) => `docs/${name}`).sort()];
}

/** The fenced blocks of a page, in order. */
export function snippetsOf(page: string, text = readFileSync(page, 'utf8')): readonly Snippet[] {
  const lines = text.split('\n');
  const snippets: Snippet[] = [];
  for (let index = 0; index < lines.length; index++) {
    // What a longer fence holds, or one that says more than a language, is shown and no snippet.
    const shown = /^(`{4,}|```(?=\w+ ))/.exec(lines[index] ?? '')?.[1];
    if (shown !== undefined) index = Math.max(index, lines.indexOf(shown, index + 1));
    if (shown !== undefined) continue;
    const language = /^```(\w*)$/.exec(lines[index] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', index + 1);
    if (end < 0) throw new Error(`${page}:${index + 1}: a fence that nobody closes`);
    const mark = lines.slice(0, index).findLast((line) => line !== '') ?? '';
    snippets.push({
      page,
      line: index + 1,
      language,
      runs: mark === '<!-- run -->',
      file: /^<!-- file (\S+) -->$/.exec(mark)?.[1],
      text: lines.slice(index + 1, end).join('\n'),
    });
    index = end;
  }
  return snippets;
}

/** A command of a console block, and the lines that it is said to print. */
export interface ConsoleStep {
  readonly command: string;
  readonly expected: readonly string[];
}

/** `$ command` lines with what stands below each. */
export function consoleSteps({ page, line, text }: Snippet): readonly ConsoleStep[] {
  const steps: { command: string; expected: string[] }[] = [];
  for (const written of text.split('\n')) {
    const last = steps.at(-1);
    if (written.startsWith('$ ')) steps.push({ command: written.slice(2), expected: [] });
    else if (last === undefined) throw new Error(`${page}:${line}: output before the first command`);
    else last.expected.push(written);
  }
  return steps;
}

/** Whether the lines are those that were expected; a line of nothing but `…` stands for any number of them. */
export function matches(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first.trim() !== '…') return actual[0] === first && matches(rest, actual.slice(1));
  for (let skipped = 0; skipped <= actual.length; skipped++) {
    if (matches(rest, actual.slice(skipped))) return true;
  }
  return false;
}
