import { availableParallelism } from 'node:os';
import { describePlace, RoundfoldError } from '../../conversation/errors.ts';
import { nearest } from '../../conversation/nearest.ts';
import { printablePath } from '../../conversation/printable.ts';
import { labStrategies } from '../../lab/lab-rows.ts';
import { renderComparisonPage } from '../../report/html/comparison-page.ts';
import { countOf } from '../../report/terminal.ts';
import { type CommandDefinition, type GivenArguments, readNumber } from '../command.ts';
import { type JobResult, type PoolInput, runPool } from '../compare/jobs.ts';
import { probeFilesIn } from '../compare/probe-folder.ts';
import type { CompareSettings } from '../compare/recording.ts';
import { leftOutText, summaryText, toComparison } from '../compare/report.ts';
import {
  findRegressions,
  readBaseline,
  regressionText,
  type Summary,
  summarize,
} from '../compare/summary.ts';
import { expandFolders } from '../examine/find-files.ts';
import { type ExitCode, exitCodes, worstOf } from '../exit-codes.ts';
import { checkOutputs, forceOption, writeOutput } from '../files.ts';
import { type Report, reportError, writeJson } from '../output.ts';
import { readingOptions, readModel } from '../recordings.ts';
import { shareBar, startProgressLine } from '../terminal.ts';

/** The default strategy, two that agents use on their own, and a summary alone. */
const defaultStrategies: readonly string[] = ['ladder', 'clear-tool-results', 'sliding-window', 'summarize'];
const defaultBudgets: readonly number[] = [50, 30, 20, 10];
const DEFAULT_CUTS = 5;

/** `roundfold compare`: what strategies keep of what a recorded agent needed later, and what they would have cost. */
export const compare: CommandDefinition = {
  name: 'compare',
  summary: 'measure on recorded sessions what strategies keep of what the agent needed later',
  arguments: '[file...]',
  argumentHelp:
    'session files, logs of requests, lists of messages, folders of them; `-` reads standard input',
  options: [
    { flags: '--strategies <names>', help: `which to compare (default ${defaultStrategies.join(',')})` },
    {
      flags: '--budgets <percents>',
      help: `shares of the tokens that may be left (default ${defaultBudgets.toReversed().join(',')})`,
    },
    { flags: '--cuts <count>', help: `places at which each session is compacted (default ${DEFAULT_CUTS})` },
    {
      flags: '--probes <folder>',
      help: 'sessions with questions that somebody who takes over would ask; see below',
    },
    { flags: '--html <file>', help: 'also write a page with charts there; it needs no network' },
    forceOption,
    {
      flags: '--baseline <file>',
      help: 'a former --json: fail when a figure got worse than it says',
    },
    { flags: '--jobs <count>', help: 'threads that work at the same time (default: one per core)' },
    ...readingOptions,
  ],
  examples: [
    ['roundfold compare session.jsonl', 'what each strategy would have kept of it'],
    ['roundfold compare ~/.claude/projects/*/*.jsonl --html report.html', 'all your sessions, with charts'],
    ['roundfold compare --probes probes', 'how many of your own questions each strategy still answers'],
    ['roundfold compare sessions/*.jsonl --json > baseline.json', 'remember how good it is'],
    ['roundfold compare sessions/*.jsonl --baseline baseline.json', 'and fail when it gets worse'],
  ],
  details: () => DETAILS,
  run,
};

const DETAILS = `Each session is cut at several places. What stands before a cut is compacted;
what really came after it says what was needed: names that later calls use,
lines that later edits quote, demands of the user. Nothing is sent anywhere.
Sessions that are too short to be cut are named and left out.

--probes measures whether somebody who sees only what is left could carry on.
The folder has two files for each session:
  NAME.json (or .json.gz)  a request body up to the place of the compaction:
                           {"tools": […], "messages": […], "future": […]}; future
                           is what really came next and may be left out
  NAME.probes.jsonl        a question a line: {"id": "p1", "kind": "state",
                           "weight": 2, "question": "Do the tests pass?",
                           "answer": "No, two fail", "evidence": [["2 failed",
                           "two failures"], ["auth.test"]]}
A question counts as answered when one text of every group of its evidence stands
in what is left, all within 600 characters; case and white space do not count.
The weight is 1 where it is left out.

Exit code 1 with --baseline: a share of a strategy is more than 0.5 points worse,
or its cost more than 1 % higher; each is named. Also 1 when there is nothing to
compare.
`;

async function run(given: GivenArguments, report: Report): Promise<ExitCode> {
  const settings = readSettings(given);
  const jobs = readNumber(given, 'jobs', { from: 1, to: 256 }) ?? availableParallelism();
  const baselineFile = given.text('baseline');
  const input = readInput(given);
  const files = [...input.files, ...input.probes.flatMap(({ session, probes }) => [session, probes])];
  checkOutputs(given, [...files, ...(baselineFile === undefined ? [] : [baselineFile])]);
  const baseline = baselineFile === undefined ? undefined : readBaseline(baselineFile);
  const count = input.files.length + input.probes.length;
  const line = startProgressLine(report.terminal);
  const onProgress = (share: number): void =>
    line.update(() => `comparing ${countOf(count, 'file')} ${shareBar(share, report.terminal)}`);
  const results = await runPool(input, settings, jobs, onProgress).finally(line.end);
  const codes = reportFiles(report, results);
  if (input.files.length > given.positional.length) sayRead(report, results);
  const summary = summarize(results, settings);
  if (summary.sessions.length === 0) return worstOf([...codes, sayNothingToCompare(report, summary)]);
  tell(report, summary);
  const page = writeOutput(given, 'html', () => renderComparisonPage(toComparison(summary, results)));
  if (page !== undefined) report.terminal.talk(`wrote ${page}\n`);
  if (baseline !== undefined) codes.push(judge(report, baseline, summary));
  return worstOf(codes);
}

/** Where folders were named, nobody has counted the files. */
function sayRead({ terminal }: Report, results: readonly JobResult[]): void {
  const unreadable = new Set(
    results.filter(({ problem }) => problem !== undefined).map(({ source }) => source),
  );
  const read = new Set(results.map(({ source }) => source)).size - unreadable.size;
  terminal.talk(`${countOf(read, 'file')} compared, ${unreadable.size} unreadable\n`);
}

/**
 * The settings of a command line.
 * @throws RoundfoldError `usage` for anything that makes no sense
 */
function readSettings(given: GivenArguments): CompareSettings {
  return {
    strategies: readStrategies(given.text('strategies')),
    budgets: readBudgets(given.text('budgets')),
    cuts: readNumber(given, 'cuts', { from: 1, to: 100 }) ?? DEFAULT_CUTS,
    model: readModel(given, undefined),
    format: given.text('format'),
    reader: given.text('reader'),
    wantsPage: given.text('html') !== undefined,
  };
}

function readStrategies(text: string | undefined): readonly string[] {
  if (text === undefined) return defaultStrategies;
  const names = [...new Set(partsOf(text))];
  const unknown = names.find((name) => !labStrategies.includes(name));
  if (unknown === undefined && names.length > 0) return names;
  const meant = unknown === undefined ? undefined : nearest(unknown, labStrategies);
  throw new RoundfoldError('usage', `--strategies has no ${JSON.stringify(unknown ?? text)}`, {
    remedy: `${meant === undefined ? '' : `Did you mean ${meant}? `}Known: ${labStrategies.join(', ')}.`,
  });
}

function readBudgets(text: string | undefined): readonly number[] {
  if (text === undefined) return defaultBudgets;
  const numbers = partsOf(text).map((part) => Number(part.replace(/\s?%$/, '')));
  if (numbers.length > 0 && numbers.every((number) => number > 0 && number < 100))
    return [...new Set(numbers)].toSorted((left, right) => right - left);
  throw new RoundfoldError('usage', `--budgets wants percents, not ${JSON.stringify(text)}`, {
    remedy: 'For example --budgets 10,20,30,50: shares of the tokens that may be left.',
  });
}

function partsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readInput(given: GivenArguments): PoolInput {
  const folder = given.text('probes');
  if (folder === undefined && given.positional.length === 0) {
    throw new RoundfoldError('usage', 'nothing to compare was named', {
      remedy: 'Name session files, or with --probes a folder of sessions with questions.',
    });
  }
  return { files: expandFolders(given.positional), probes: folder === undefined ? [] : probeFilesIn(folder) };
}

function reportFiles(report: Report, results: readonly JobResult[]): ExitCode[] {
  const codes: ExitCode[] = [];
  const told = new Set<string>();
  for (const { source, problem, bad } of results) {
    // All parts of one file report the same problems.
    if (told.has(source)) continue;
    told.add(source);
    for (const { place, reason } of bad.slice(0, 1)) {
      const more = bad.length > 1 ? ` (and ${countOf(bad.length - 1, 'more place')})` : '';
      report.terminal.talk(`skipped ${describePlace({ ...place, source })}: ${reason}${more}\n`);
    }
    if (problem === undefined) continue;
    reportError(report, problem, source);
    codes.push(problem.exitCode);
  }
  return codes;
}

function sayNothingToCompare(report: Report, summary: Summary): ExitCode {
  if (report.json) writeJson(report, 'comparison', summary);
  report.terminal.talk(leftOutText(summary));
  if (summary.leftOut.length > 0) {
    reportError(report, {
      code: 'nothing-to-compare',
      message: 'there is nothing to compare',
      remedy: 'Give a longer session: one in which a compaction would make sense.',
    });
  }
  return exitCodes.failed;
}

function tell(report: Report, summary: Summary): void {
  const { terminal } = report;
  if (report.json) writeJson(report, 'comparison', summary);
  else terminal.out(summaryText(summary, terminal));
  terminal.talk(leftOutText(summary));
  const unpriced = summary.sessions.filter(({ model }) => model === undefined);
  if (unpriced.length > 0) {
    const first = printablePath(unpriced[0]?.name ?? '');
    terminal.talk(`no prices for ${countOf(unpriced.length, 'session')} (${first}); --model names one\n`);
  }
}

function judge(report: Report, baseline: Summary, summary: Summary): ExitCode {
  const { terminal } = report;
  const regressions = findRegressions(baseline, summary);
  for (const regression of regressions) {
    if (report.json) writeJson(report, 'regression', regression);
    else terminal.out(`${terminal.style('red', 'worse')} ${regressionText(regression)}\n`);
  }
  const words =
    regressions.length === 0
      ? 'no figure is worse than the baseline'
      : `${countOf(regressions.length, 'figure')} worse than the baseline`;
  terminal.talk(`${words}\n`);
  return regressions.length === 0 ? exitCodes.done : exitCodes.failed;
}
