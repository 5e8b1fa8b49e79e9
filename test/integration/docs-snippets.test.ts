import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SnippetProject, snippetProject } from '../support/snippet-project.ts';
import { isTyped, typeErrors } from '../support/snippet-types.ts';
import { consoleSteps, matches, type Snippet, snippetsOf, writtenPages } from '../support/snippets.ts';

const pages = writtenPages().map((page) => ({ page, snippets: snippetsOf(page) }));
const typed = pages.flatMap(({ snippets }) => snippets).filter(isTyped);

test('every snippet compiles', async () => {
  expect(typed.length).toBeGreaterThan(10);
  expect(await typeErrors(typed)).toEqual([]);
});

describe.each(pages.filter(({ snippets }) => snippets.some(isAlive)))('$page runs', ({ snippets }) => {
  let project: SnippetProject;
  beforeAll(() => {
    project = snippetProject();
  });
  afterAll(() => project.remove());

  // In order: what one block writes, a later one reads.
  test.each(snippets.filter(isAlive))('line $line', async (snippet) => {
    expect(await faultsOf(snippet, project)).toEqual([]);
  });
});

describe('a wrong snippet is found', () => {
  const page = (text: string) => snippetsOf('wrong.md', text);
  const inProject = async (text: string) => {
    const project = snippetProject();
    try {
      return await Promise.all(page(text).map((snippet) => faultsOf(snippet, project)));
    } finally {
      project.remove();
    }
  };

  test('by its types, with its page and line', async () => {
    const errors = await typeErrors(
      page(
        "# A\n\n```js\nimport { createCompactor } from 'roundfold';\ncreateCompactor({ modell: 'x' });\n```\n",
      ),
    );
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^wrong\.md:5: .*modell/);
  });

  test('by the exit code of its command', async () => {
    const faults = await inProject('<!-- run -->\n\n```console\n$ roundfold inspect nowhere.jsonl\n```\n');
    expect(faults.flat()).toEqual([expect.stringMatching(/^wrong\.md:3: .* ended with 3/)]);
  });

  test('by what its command prints', async () => {
    const text =
      '<!-- run -->\n\n```console\n$ roundfold check session.jsonl\nlegal   session.jsonl (main): 49 messages, anthropic-messages\n```\n';
    expect((await inProject(text)).flat()).toHaveLength(1);
    expect((await inProject(text.replace('49', '48'))).flat()).toEqual([]);
  });

  test('by what it throws', async () => {
    const text = "<!-- run -->\n```ts\nthrow new Error('no');\n```\n";
    expect((await inProject(text)).flat()).toHaveLength(1);
  });
});

/** Whether a snippet is more than read: it runs, or is a file for one that does. */
function isAlive({ runs, file }: Snippet): boolean {
  return runs || file !== undefined;
}

async function faultsOf(snippet: Snippet, project: SnippetProject): Promise<readonly string[]> {
  const place = `${snippet.page}:${snippet.line}`;
  if (snippet.file !== undefined) {
    project.write(snippet.file, `${snippet.text}\n`);
    return [];
  }
  if (isTyped(snippet)) {
    const file = `line-${snippet.line}.ts`;
    project.write(file, snippet.text);
    const { code, output } = await project.run(`node ${file}`);
    return code === 0 ? [] : [`${place}: ended with ${code}\n${output}`];
  }
  const faults: string[] = [];
  for (const { command, expected } of consoleSteps(snippet)) {
    const { code, output } = await project.run(command);
    const actual = output === '' ? [] : output.replace(/\n$/, '').split('\n');
    if (code !== 0) faults.push(`${place}: ${command} ended with ${code}\n${output}`);
    else if (expected.length > 0 && !matches(expected, actual))
      faults.push(`${place}: ${command} printed\n${output}`);
  }
  return faults;
}
