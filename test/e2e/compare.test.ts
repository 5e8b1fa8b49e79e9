import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { figureMeasures } from '../../src/lab/measures.ts';
import { chromiumIsMissing, chromiumPath, startChromium } from '../support/chromium.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writtenSession } from '../support/written-session.ts';

const folder = temporaryFolder();
const out = (name: string) => join(folder.path, name);
const long = folder.write('long.jsonl', writtenSession({ files: 24 }));
const compacted = folder.write('compacted.jsonl', writtenSession({ files: 20, isCompacted: true }));
const short = folder.write('short.jsonl', writtenSession({ files: 2 }));
const quick = ['--budgets', '20,40', '--cuts', '2'];

interface Row {
  readonly row: string;
  readonly kind: string;
  readonly level: string;
  readonly figures: Readonly<Record<string, { mean: number; low: number; high: number }>>;
  readonly cost?: { readonly mean: number };
  readonly illegalOutputs: number;
}

interface Comparison {
  readonly type: string;
  readonly sessions: readonly { readonly name: string; readonly cuts: number }[];
  readonly leftOut: readonly { readonly session: string; readonly reason: string }[];
  readonly rows: readonly Row[];
  readonly lost: readonly Readonly<Record<string, string | number>>[];
}

function readComparison(text: string): Comparison {
  return JSON.parse(text.split('\n')[0] ?? '') as Comparison;
}

describe('roundfold compare', () => {
  it('says in 80 columns what each strategy keeps, and what it lost', async () => {
    const { code, stdout, stderr } = await runCli([
      'compare',
      long,
      ...quick,
      '--strategies',
      'sliding-window,ladder',
    ]);

    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toContain('40 % of the tokens (1 session, 2 cuts)');
    for (const row of ['ladder', 'sliding-window', 'recency only', 'vocabulary dump', 'oracle', 'none'])
      expect(stdout).toMatch(new RegExp(`^  ${row} `, 'm'));
    expect(stdout).toMatch(/^Lost by sliding-window at 40 %$/m);
    expect(stdout).toMatch(/message \d+, result of Read \/srv\/harbour\/src/);
    expect(stdout).toMatch(/needed \d+ rounds? later by Edit \/srv\/harbour\/src/);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('gives every figure with its interval as JSON', async () => {
    const { code, stdout } = await runCli(['compare', long, ...quick, '--json']);
    const { sessions, rows, lost } = readComparison(stdout);
    const none = rows.find(({ row }) => row === 'none');
    const oracle = rows.find(({ row, level }) => row === 'oracle' && level === '20 %');

    expect(code).toBe(0);
    expect(sessions).toMatchObject([{ name: long, cuts: 2 }]);
    expect(none?.figures).toMatchObject({ names: { mean: 1, low: 1, high: 1 } });
    expect(oracle?.figures).toMatchObject({ editLines: { mean: 1 } });
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['strategy', 'control', 'oracle']));
    expect(rows.filter(({ kind, illegalOutputs }) => kind === 'strategy' && illegalOutputs > 0)).toEqual([]);
    expect(lost[0]).toMatchObject({ session: long, row: expect.any(String), level: expect.any(String) });
  });

  it('prices a session, and the default costs less than no compaction', async () => {
    const { stdout } = await runCli(['compare', long, ...quick, '--json']);
    const { rows } = readComparison(stdout);
    const costOf = (name: string) => rows.find(({ row }) => row === name)?.cost?.mean ?? Number.NaN;

    expect(costOf('none')).toBeGreaterThan(0);
    expect(costOf('ladder')).toBeLessThan(costOf('none'));
  });

  it('puts the summaries of the agent itself on the same scale', async () => {
    const { stdout } = await runCli(['compare', compacted, ...quick, '--json']);
    const text = await runCli(['compare', compacted, ...quick]);
    const { rows, lost } = readComparison(stdout);
    const recorded = rows.find(({ kind }) => kind === 'recorded');

    expect(recorded).toMatchObject({
      row: 'recorded by claude-code',
      figures: { editLines: { mean: 0 }, names: { mean: 0 } },
    });
    expect(lost.filter(({ row }) => row === 'recorded by claude-code').length).toBeGreaterThan(0);
    expect(text.stdout).toContain('Forgotten by claude-code');
  });

  it('gives the same output however many threads work', async () => {
    const runs = await Promise.all(
      ['1', '2', '3'].map((jobs) =>
        runCli(['compare', compacted, '--budgets', '20', '--cuts', '7', '--json', '--jobs', jobs]),
      ),
    );

    expect(runs[0]?.code).toBe(0);
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1);
  });

  it('says which sessions are too short, and fails when all are', async () => {
    const some = await runCli(['compare', short, long, ...quick]);
    const none = await runCli(['compare', short, ...quick]);

    expect(some.code).toBe(0);
    expect(some.stderr).toMatch(/left out: .*short\.jsonl: too short to cut: [\d,]+ tokens/);
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('there is nothing to compare');
  });

  it('reads standard input', async () => {
    const { code, stdout } = await runCli(['compare', '-', ...quick], { stdin: readFileSync(long) });

    expect(code).toBe(0);
    expect(stdout).toContain('ladder');
  });

  it('goes on after a file that it cannot read, and ends with its code', async () => {
    const bad = folder.write('bad.json', '{');
    const { code, stdout, stderr } = await runCli(['compare', bad, long, ...quick]);

    expect(code).toBe(3);
    expect(stderr).toContain('bad.json');
    expect(stdout).toContain('ladder');
  });

  it.each([
    [['--strategies', 'laddr'], 'Did you mean ladder?'],
    [['--strategies', ''], '--strategies has no'],
    [['--budgets', '0'], '--budgets wants percents'],
    [['--budgets', 'many'], '--budgets wants percents'],
    [['--cuts', '0'], '--cuts takes a whole number'],
    [['--jobs', 'all'], '--jobs takes a whole number'],
    [['--model', 'gpt-9000'], 'unknown model'],
    [['--baseline', 'no-such-file'], 'cannot be read'],
    [['--baseline', 'package.json'], 'is no comparison'],
  ])('refuses %j', async (args, words) => {
    const { code, stderr } = await runCli(['compare', long, ...args]);

    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
  });

  it('prices by the model that is asked for, and says so when nobody knows prices', async () => {
    const odd = folder.write('odd.jsonl', writtenSession({ files: 24, model: 'house-model' }));
    const without = await runCli(['compare', odd, ...quick]);
    const priced = await runCli(['compare', odd, ...quick, '--model', 'claude-opus-4-5']);

    expect(without.stderr).toContain('no prices for 1 session');
    expect(without.stdout).not.toContain('$');
    expect(priced.stdout).toContain('$');
  });
});

describe('roundfold compare --probes', () => {
  const { messages, future } = probedSession();
  const probes = temporaryFolder();
  probes.write('quay.json', JSON.stringify({ messages, future }));
  probes.write(
    'quay.probes.jsonl',
    [
      { id: 'goal', question: 'What is to be done?', answer: 'Mend it', evidence: [['mend the gauge']] },
      { id: 'cause', question: 'Why?', answer: 'The tide', evidence: [['tide twice'], ['readDepth']] },
    ]
      .map((probe) => JSON.stringify(probe))
      .join('\n'),
  );

  it('says first how many questions each strategy still answers', async () => {
    const { code, stdout } = await runCli(['compare', '--probes', probes.path, '--budgets', '20']);
    const json = await runCli(['compare', '--probes', probes.path, '--budgets', '20', '--json']);
    const none = readComparison(json.stdout).rows.find(({ row }) => row === 'none');

    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +kept +probes +names/m);
    expect(none?.figures['probes']).toMatchObject({ mean: 1 });
  });

  it('goes together with recorded sessions', async () => {
    const { stdout } = await runCli(['compare', long, '--probes', probes.path, ...quick, '--json']);

    expect(readComparison(stdout).sessions.map(({ name }) => name)).toEqual(['quay', long]);
  });

  it('tells what is wrong with a folder, and a probe by its line', async () => {
    const broken = temporaryFolder();
    broken.write('quay.json', JSON.stringify({ messages }));
    broken.write('quay.probes.jsonl', '{"id":"x"}\n');
    const nowhere = await runCli(['compare', '--probes', join(broken.path, 'nowhere')]);
    const wrong = await runCli(['compare', '--probes', broken.path]);
    const nothing = await runCli(['compare']);

    expect([nowhere.code, wrong.code, nothing.code]).toEqual([2, 3, 2]);
    expect(nowhere.stderr).toContain('is no folder that can be read');
    expect(wrong.stderr).toContain('quay.probes.jsonl:1');
    expect(nothing.stderr).toContain('nothing to compare was named');
  });
});

/** A request in the middle of some work, and what came next. */
function probedSession() {
  const call = (id: string, name: string, input: object) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name, input }],
  });
  const result = (id: string, content: string) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content }],
  });
  const rounds = Array.from({ length: 30 }, (_, index) => {
    const text = `export const berth_${index} = 'quay ${index}';\n`.repeat(40);
    return [
      call(`toolu_${index}`, 'Read', { file_path: `src/b${index}.ts` }),
      result(`toolu_${index}`, text),
    ];
  }).flat();
  const said = 'The gauge is wrong because readDepth counts the tide twice.';
  return {
    messages: [
      { role: 'user', content: 'Please mend the gauge.' },
      { role: 'assistant', content: [{ type: 'text', text: said }] },
      { role: 'user', content: 'Go on.' },
      ...rounds,
    ],
    future: [call('toolu_x', 'Grep', { pattern: 'readDepth|berth_3' })],
  };
}

describe('roundfold compare --baseline', () => {
  const now = runCli(['compare', long, ...quick, '--json']);
  const withChange = async (name: string, change: (row: Row) => Row): Promise<string> => {
    const comparison = readComparison((await now).stdout);
    const changed = { ...comparison, rows: comparison.rows.map(change) };
    return folder.write(name, `${JSON.stringify(changed)}\n`);
  };

  it('passes when nothing got worse than noise', async () => {
    const baseline = await withChange('same.json', (row) => ({
      ...row,
      ...(row.cost === undefined ? {} : { cost: { ...row.cost, mean: row.cost.mean * 0.995 } }),
    }));
    const { code, stderr } = await runCli(['compare', long, ...quick, '--baseline', baseline]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: 'no figure is worse than the baseline\n' });
  });

  it('fails when a share fell or a cost rose, and names each', async () => {
    const baseline = await withChange('better.json', (row) => ({
      ...row,
      figures: { ...row.figures, demands: { mean: 1.01, low: 1, high: 1 } },
      ...(row.cost === undefined ? {} : { cost: { ...row.cost, mean: row.cost.mean * 0.98 } }),
    }));
    const text = await runCli(['compare', long, ...quick, '--baseline', baseline, '--strategies', 'ladder']);
    const json = await runCli(['compare', long, ...quick, '--baseline', baseline, '--json']);

    expect(text.code).toBe(1);
    expect(text.stdout).toContain('worse ladder at 40 %: demands from 101.0 % to 100.0 %');
    expect(text.stdout).toContain('worse ladder at 20 %: cost from $');
    // Only strategies are judged: whatever controls do is no fault.
    expect(text.stdout).not.toContain('worse recency only');
    expect(json.code).toBe(1);
    expect(json.stdout).toContain('"type":"regression"');
  });

  it('does not compare what cannot be compared', async () => {
    const baseline = await withChange('same-again.json', (row) => row);
    const other = await runCli(['compare', compacted, ...quick, '--baseline', baseline]);
    const cuts = await runCli(['compare', long, '--budgets', '20', '--cuts', '3', '--baseline', baseline]);
    const strategy = await runCli([
      'compare',
      long,
      ...quick,
      '--strategies',
      'snip',
      '--baseline',
      baseline,
    ]);

    expect([other.code, cuts.code, strategy.code]).toEqual([2, 2, 2]);
    expect(other.stderr).toContain('measured on other sessions');
    expect(cuts.stderr).toContain('another number of cuts');
    expect(strategy.stderr).toContain('none of these strategies');
  });
});

describe('roundfold compare --html', () => {
  it('writes a page for its owner alone, the same each time', async () => {
    const [one, two] = [out('one.html'), out('two.html')];
    const { code, stderr } = await runCli(['compare', long, compacted, ...quick, '--html', one]);
    await runCli(['compare', long, compacted, ...quick, '--html', two, '--jobs', '1']);
    const page = readFileSync(one, 'utf8');

    expect({ code, stderr }).toEqual({ code: 0, stderr: `wrote ${one}\n` });
    expect(statSync(one).mode & 0o777).toBe(0o600);
    expect(page).toContain('What was lost');
    expect(page).toContain('A receipt');
    expect(page).toContain('Cost against recall');
    expect(page).toBe(readFileSync(two, 'utf8'));
  });

  it('calls every measure as the terminal does', async () => {
    const { stdout } = await runCli(['compare', long, ...quick, '--html', out('named.html')]);
    const page = readFileSync(out('named.html'), 'utf8');
    const json = await runCli(['compare', long, ...quick, '--json']);
    const figures = new Set(readComparison(json.stdout).rows.flatMap((row) => Object.keys(row.figures)));

    for (const { figure, name } of figureMeasures.filter((measure) => figures.has(measure.figure))) {
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(name);
      if (figure !== 'namesByHandle') expect(page).toContain(`>${name}</th>`);
    }
  });

  const isMissing = chromiumPath === undefined;

  it.skipIf(isMissing)(
    `shows in a browser without a complaint or a request${isMissing ? ` (skipped: ${chromiumIsMissing})` : ''}`,
    async () => {
      await runCli(['compare', long, compacted, ...quick, '--html', out('page.html')]);
      const browser = startChromium(chromiumPath ?? '');
      for (const width of [1280, 400]) {
        const page = await browser.open(pathToFileURL(out('page.html')).href, { width, colours: 'light' });

        expect(page.complaints).toEqual([]);
        expect(page.requests).toEqual([]);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
        expect(await page.evaluate<number>("document.querySelectorAll('svg .curve').length")).toBeGreaterThan(
          5,
        );
        await page.close();
      }
      await browser.close();
    },
  );
});
