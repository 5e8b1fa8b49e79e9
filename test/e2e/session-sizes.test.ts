import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeAgentHome } from '../support/agent-home.ts';
import { runCli } from '../support/cli.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { pricedSession } from '../support/priced-session.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const { files } = writeAgentHome(join(folder.path, 'home'));

type Told = Readonly<Record<string, unknown>>;

async function json(...args: readonly string[]): Promise<readonly Told[]> {
  const { stdout } = await runCli([...args, '--json']);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Told]));
}

interface Sizes {
  readonly contextTokens: number;
  readonly fileTokens: number;
}

async function inspected(file: string): Promise<Sizes> {
  const [first] = await json('inspect', file);
  const context = first?.['context'] as { readonly tokens: number };
  return { contextTokens: context.tokens, fileTokens: first?.['fileTokens'] as number };
}

/** What `compact` starts from; undefined where it had to mend the file first. */
async function compacted(file: string): Promise<Sizes | undefined> {
  const [first] = await json('compact', file, '--dry-run', '--budget', '90%');
  const receipt = first?.['receipt'] as { readonly tokensBefore: number; readonly repairs?: unknown };
  if (receipt.repairs !== undefined) return undefined;
  return { contextTokens: first?.['contextTokens'] as number, fileTokens: receipt.tokensBefore };
}

/** A session of 40 requests, compacted by its agent after 20. */
const long = () =>
  folder.write(
    'long.jsonl',
    pricedSession(
      Array.from({ length: 40 }, (_, index) => ({
        minute: index,
        sends: `The tide of hour ${index} is ${index * 7} inches. `.repeat(60),
        read: 9000 + index * 900,
        written: 900,
        compacts: index === 20,
      })),
    ),
  );

describe('the size of a session', () => {
  it.each(['claude-code', 'codex', 'pi', 'opencode', 'gemini-cli'] as const)(
    'of %s is the same in inspect and compact',
    async (agent) => {
      expect(await compacted(files[agent])).toEqual(await inspected(files[agent]));
    },
  );

  it('is the same in inspect and compact for a long session that its agent has compacted', async () => {
    const file = long();
    const sizes = await inspected(file);

    expect(await compacted(file)).toEqual(sizes);
    expect(sizes.contextTokens).toBeGreaterThan(sizes.fileTokens);
  });

  it('grows by the same in chat, which has instructions and tools of its own', async () => {
    const gauge = async (file: string): Promise<number> => {
      const { stdout } = await runCli(['chat', '--model', 'claude-opus-4-6'], {
        stdin: `/load ${file}\n`,
        env: { HOME: folder.path, XDG_STATE_HOME: folder.path },
      });
      return Number(/context ([\d,]+) of/.exec(stdout)?.[1]?.replaceAll(',', ''));
    };
    const [small, large] = [files['claude-code'], long()];
    const grown = (await inspected(large)).fileTokens - (await inspected(small)).fileTokens;
    const shown = (await gauge(large)) - (await gauge(small));

    expect(grown).toBeGreaterThan(10_000);
    expect(shown / grown).toBeCloseTo(1, 2);
  });
});

describe('the segments of a session', () => {
  it('are chosen by number, the live one by default', async () => {
    const file = long();
    const [live] = await json('inspect', file);
    const [first] = await json('inspect', file, '--segment', '1');
    const all = await json('inspect', file, '--segment', 'all');

    expect(live).toMatchObject({ segment: 2, segments: 2, compactions: 1, opening: { trigger: 'auto' } });
    expect(first).toMatchObject({ segment: 1, segments: 2, compactions: 0 });
    expect(all).toEqual([first, live]);
    const opening = live?.['opening'] as { readonly carriedTokens: number } | undefined;
    expect(opening?.carriedTokens).toBeGreaterThan(300);
  });

  it('are told with the size of what the compaction left', async () => {
    const { stdout } = await runCli(['inspect', long(), '--segment', 'all']);

    expect(stdout).toContain('segment 1 of 2');
    expect(stdout).toContain('segment 2 of 2');
    expect(stdout).toMatch(/begins with a compaction: [\d,]+ in the summary and what was kept/);
  });

  it.each([
    { segment: '3', words: 'there is no segment 3' },
    { segment: '0', words: 'segment' },
    { segment: 'last', words: 'segment' },
  ])('are refused for --segment $segment', async ({ segment, words }) => {
    const { code, stderr } = await runCli(['inspect', long(), '--segment', segment]);

    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe.skipIf(corpusFolder === undefined)(
  `recorded sessions${corpusFolder === undefined ? ` (${corpusIsMissing})` : ''}`,
  () => {
    it('have the same size in inspect and compact', async () => {
      let compared = 0;
      for (const { file } of corpusFiles().filter((each) =>
        /^(?:codex-rollout|pi-session)\//.test(each.file),
      )) {
        const sizes = await compacted(corpusPath(file));
        if (sizes === undefined) continue;
        expect(await inspected(corpusPath(file)), file).toEqual(sizes);
        compared++;
      }
      expect(compared).toBeGreaterThan(3);
    }, 300_000);
  },
);
