import { RoundfoldError } from '../../conversation/errors.ts';
import type { Frame } from '../../conversation/format.ts';
import { printable } from '../../conversation/printable.ts';
import { type InspectedSession, renderInspectionPage } from '../../report/html/inspection-page.ts';
import { type Inspection, inspectConversation } from '../../report/inspection.ts';
import { inspectionText } from '../../report/inspection-text.ts';
import { type RoundSeries, recordedSeries } from '../../report/round-series.ts';
import { promptLimit } from '../../report/session-row.ts';
import { countOf, drawTable, formatCount, formatShare, formatShort } from '../../report/terminal.ts';
import { findModel } from '../../tokens/catalog.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import { loadExactCounter } from '../../tokens/exact-counter.ts';
import { tokensOf } from '../../tokens/measure.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import { type CommandDefinition, type GivenArguments, readNumber } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutputs, forceOption, writeOutput } from '../files.ts';
import { type Report, writeJson } from '../output.ts';
import { eachRecording, readingOf, readingOptions } from '../recordings.ts';
import { type Terminal, wrapText } from '../terminal.ts';

/** `roundfold inspect`: what is in it, and where its tokens go. */
export const inspect: CommandDefinition = {
  name: 'inspect',
  summary: 'show what is in a conversation and where its tokens go',
  arguments: '<file...>',
  argumentHelp:
    'session files, request bodies, lists of messages, logs of requests, folders of them; `-` reads standard input',
  options: [
    ...readingOptions,
    { flags: '--window <tokens>', help: "size of the context window, instead of the model's" },
    {
      flags: '--segment <number>',
      help: 'which stretch between compactions of the agent, from 1 on, or `all` (default: the last, which is live)',
    },
    { flags: '--top <count>', help: 'how many of the largest to name (default 5)' },
    {
      flags: '--exact',
      help: 'count exactly instead of estimating (OpenAI models; needs the package gpt-tokenizer)',
    },
    { flags: '--html <file>', help: 'also write a page with charts there; it needs no network' },
    forceOption,
  ],
  examples: [
    ['roundfold inspect session.jsonl', 'a session of a coding agent'],
    ['roundfold inspect request.json --model gpt-5.5', 'with the warning level for that model'],
    ['roundfold inspect session.jsonl --html report.html', 'with charts, for a browser'],
    ['roundfold inspect *.jsonl --json | jq .context.tokens', 'for a program'],
  ],
  async run(given, report) {
    checkOutputs(given, given.positional);
    const settings = await readSettings(given);
    const onPage = keepLargest<InspectedSession>(ON_PAGE);
    let inFile = keepLargest<Inspected>(LISTED + 1);
    let conversations = 0;
    const code = await eachRecording<readonly Charted[]>(given, report, {
      // A tokenizer is no plain data.
      task: given.flag('exact')
        ? undefined
        : { command: 'inspect', options: { ...settings, estimators: new Map() }, reading: readingOf(given) },
      examine: (recording) => inspectSegments(recording, settings),
      tell(charted, file) {
        conversations++;
        for (const { inspected, series } of charted) {
          if (series !== undefined) onPage.add(toSession(file, inspected, series));
          if (report.json) printJson(report, file, inspected);
          else inFile.add(inspected);
        }
        return exitCodes.done;
      },
      endFile(file) {
        if (!report.json) printFile(report, file, inFile.largest(), settings.segment === 'all');
        inFile = keepLargest(LISTED + 1);
      },
      endFolders(files, unreadable) {
        if (report.json) writeJson(report, 'summary', { files, conversations, unreadable });
        else
          report.terminal.out(
            `${countOf(conversations, 'conversation')} in ${countOf(files, 'file')}, ${unreadable} unreadable\n`,
          );
      },
    });
    if (onPage.count() > 0) {
      const sessions = onPage.largest();
      const leftOut = onPage.count() - sessions.length;
      const out = writeOutput(given, 'html', () => renderInspectionPage({ sessions, leftOut }));
      report.terminal.talk(`wrote ${out}\n`);
    }
    return code;
  },
};

interface Settings {
  readonly model: string | undefined;
  readonly windowTokens: number | undefined;
  readonly top: number;
  /** Index of a segment; undefined for the live one. */
  readonly segment: number | 'all' | undefined;
  /** Whether charts are wanted. */
  readonly hasPage: boolean;
  readonly countText: ((text: string) => number) | undefined;
  readonly estimators: Map<string, TokenEstimator>;
}

async function readSettings(given: GivenArguments): Promise<Settings> {
  const model = given.text('model');
  return {
    model,
    windowTokens: readNumber(given, 'window', { from: 1 }),
    top: readNumber(given, 'top', { from: 1 }) ?? 5,
    segment: readSegment(given),
    hasPage: given.text('html') !== undefined,
    countText: given.flag('exact') ? await loadExactCounter(exactEncoding(model)) : undefined,
    estimators: new Map(),
  };
}

/** @throws RoundfoldError `usage` for what is neither a number nor `all` */
function readSegment(given: GivenArguments): Settings['segment'] {
  if (given.text('segment') === 'all') return 'all';
  const number = readNumber(given, 'segment', { from: 1, remedy: 'Give a number from 1 on, or all.' });
  return number === undefined ? undefined : number - 1;
}

/** @throws RoundfoldError `usage` when the recording has fewer segments */
function chosenSegments({ conversations }: Recording, segment: Settings['segment']): readonly number[] {
  const last = conversations.length - 1;
  if (segment === 'all') return conversations.map((_, index) => index);
  if (segment === undefined || segment <= last) return [segment ?? last];
  throw new RoundfoldError('usage', `there is no segment ${segment + 1}`, {
    remedy: `It has ${countOf(conversations.length, 'segment')}: one more than compactions.`,
  });
}

function exactEncoding(model: string | undefined): 'o200k' | 'cl100k' {
  const family = model === undefined ? 'o200k' : findModel(model)?.family;
  if (family === 'o200k' || family === 'cl100k') return family;
  throw new RoundfoldError('usage', `no exact tokenizer is published for ${model}`, {
    remedy: 'Leave --exact away: the estimate learns from the usage that the session reports.',
  });
}

/** What stays of a recording: its numbers, not its messages. */
interface Inspected {
  readonly title: string;
  readonly reader: string;
  readonly format: string;
  readonly kind: string;
  readonly model: string | undefined;
  readonly compactions: number;
  /** From 1 on. */
  readonly segment: number;
  readonly segments: number;
  readonly opening: Opening | undefined;
  readonly notes: readonly string[];
  readonly inspection: Inspection;
}

/** The compaction that a segment begins with, in tokens. */
interface Opening {
  readonly trigger: 'auto' | 'manual' | undefined;
  /** As the agent recorded them. */
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
  /** Estimated: the summary and what was kept. */
  readonly carriedTokens: number;
}

function openingOf(
  { transcript, conversations }: Recording,
  segment: number,
  estimator: TokenEstimator,
): Opening | undefined {
  const opening = transcript.segments[segment]?.opening;
  if (opening === undefined) return undefined;
  const { trigger, tokensBefore, tokensAfter, carried } = opening;
  const kept = conversations[segment]?.messages.slice(0, carried) ?? [];
  return { trigger, tokensBefore, tokensAfter, carriedTokens: Math.round(tokensOf(kept, estimator)) };
}

/** A segment, and the course of its recording where charts are wanted. */
interface Charted {
  readonly inspected: Inspected;
  readonly series: RoundSeries | undefined;
}

/** Looks through the segments that are asked for. */
export function inspectSegments(recording: Recording, settings: Settings): readonly Charted[] {
  return chosenSegments(recording, settings.segment).map((segment) => {
    const inspected = inspectRecording(recording, segment, settings);
    const estimator = estimatorFor(inspected.model, settings);
    return { inspected, series: settings.hasPage ? recordedSeries(recording, estimator) : undefined };
  });
}

function inspectRecording(recording: Recording, segment: number, settings: Settings): Inspected {
  const { transcript, conversations } = recording;
  const live = conversations[segment];
  if (live === undefined)
    throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
  const model = settings.model ?? transcript.model ?? live.frame.model;
  // The window that a session names is that of the recorded model; another model has its own.
  const recordedWindow = settings.model === undefined ? transcript.windowTokens : undefined;
  const windowTokens =
    settings.windowTokens ?? recordedWindow ?? (model === undefined ? undefined : promptLimit(model));
  const estimator = estimatorFor(model, settings);
  return {
    title: transcript.title,
    reader: transcript.reader,
    format: transcript.format,
    kind: transcript.kind,
    model,
    compactions: segment,
    segment: segment + 1,
    segments: conversations.length,
    opening: openingOf(recording, segment, estimator),
    notes: [...transcript.notes, ...notesOnFrame(live.frame)],
    inspection: inspectConversation(live, { estimator, windowTokens, top: settings.top }),
  };
}

function notesOnFrame({ continues, managedBy }: Frame): readonly string[] {
  return [
    ...(continues === undefined ? [] : [`part of the history is on the server (${continues})`]),
    ...(managedBy === undefined ? [] : [`the provider shortens this context itself (${managedBy})`]),
  ];
}

function estimatorFor(model: string | undefined, { estimators, countText }: Settings): TokenEstimator {
  const known = estimators.get(model ?? '');
  if (known !== undefined) return known;
  const profile = tokenProfileForModel(model);
  const estimator = createTokenEstimator(countText === undefined ? { profile } : { profile, countText });
  estimators.set(model ?? '', estimator);
  return estimator;
}

function printJson(report: Report, file: string, { inspection, ...recording }: Inspected): void {
  writeJson(report, 'inspection', { file, ...recording, ...inspection });
}

/** How many other conversations of one file are listed, and how many are on a page. Of more, the largest are shown. */
const LISTED = 20;
const ON_PAGE = 100;

/** Keeps the largest of what is added, so that a log of any length costs little. */
function keepLargest<One extends { readonly inspection: Inspection }>(limit: number) {
  let kept: One[] = [];
  let count = 0;
  /** In the order in which they came. */
  const largest = (): One[] => {
    const chosen = new Set(kept.toSorted(bySize).slice(0, limit));
    return kept.filter((one) => chosen.has(one));
  };
  return {
    add(one: One): void {
      count++;
      kept.push(one);
      if (kept.length >= 2 * limit) kept = largest();
    },
    count: () => count,
    largest,
  };
}

type Sized = Pick<Inspected, 'inspection'>;

function bySize({ inspection: left }: Sized, { inspection: right }: Sized): number {
  return right.context.tokens - left.context.tokens;
}

function toSession(file: string, inspected: Inspected, series: RoundSeries): InspectedSession {
  const { title, notes, inspection } = inspected;
  return { file, title, about: aboutOf(inspected), notes, inspection, series };
}

function printFile(
  { terminal }: Report,
  file: string,
  seen: readonly Inspected[],
  isEverySegment: boolean,
): void {
  if (isEverySegment) {
    for (const inspected of seen) printOne(terminal, file, inspected);
    terminal.out('\n');
    return;
  }
  const sorted = seen.toSorted(bySize);
  const shown = seen.find(({ kind }) => kind === 'main' && seen.length <= LISTED) ?? sorted[0];
  if (shown === undefined) return;
  const others = sorted.filter((inspected) => inspected !== shown);
  printOne(terminal, file, shown);
  if (others.length > 0) {
    terminal.out(`\n${terminal.style('bold', 'Other conversations in this file')}\n`);
    terminal.out(
      drawTable(others.map(rowOf), [{ align: 'left', maximum: 60 }, ...RIGHT, ...RIGHT, ...RIGHT]),
    );
  }
  terminal.out('\n');
}

const RIGHT = [{ align: 'right' }] as const;

function rowOf({ title, inspection }: Inspected): readonly string[] {
  const { messages, rounds, context, window } = inspection;
  const share = window === undefined ? '' : ` (${formatShare(window.share)})`;
  return [
    printable(title, 60),
    countOf(messages, 'message'),
    countOf(rounds, 'round'),
    `${formatShort(context.tokens)} tokens${share}`,
  ];
}

function printOne(terminal: Terminal, file: string, inspected: Inspected): void {
  const { inspection, title, compactions, notes } = inspected;
  const about = printable(aboutOf(inspected).join(', '));
  terminal.out(
    `${terminal.style('bold', printable(file, Number.POSITIVE_INFINITY))} ${terminal.style('dim', `(${about})`)}\n`,
  );
  const counts = [
    countOf(inspection.messages, 'message'),
    countOf(inspection.rounds, 'round'),
    countOf(inspection.toolCalls, 'tool call'),
    ...(compactions > 0 ? [`after ${countOf(compactions, 'compaction')} by the agent itself`] : []),
  ];
  const part = inspected.segments === 1 ? '' : `, segment ${inspected.segment} of ${inspected.segments}`;
  const sayLine = (text: string): void => terminal.out(`  ${wrapText(text, terminal.columns, '  ')}\n`);
  sayLine(`${printable(title)}${part}: ${counts.join(', ')}`);
  if (inspected.opening !== undefined) sayLine(openingText(inspected.opening));
  const broken = inspection.unansweredCalls + inspection.orphanResults;
  if (broken > 0) {
    const faults = `${countOf(inspection.unansweredCalls, 'call')} without result, ${countOf(inspection.orphanResults, 'result')} without call`;
    terminal.out(`  ${terminal.style('yellow', faults)} (roundfold check tells more)\n`);
  }
  for (const note of notes) terminal.out(`  ${terminal.style('dim', printable(note))}\n`);
  terminal.out(
    inspectionText(inspection, {
      columns: terminal.columns,
      isPlain: terminal.isPlain,
      heading: (text) => terminal.style('bold', text),
      wrap: wrapText,
      level: (level, text) => terminal.style(LEVEL_STYLES[level], text),
    }),
  );
}

function openingText({ tokensBefore, tokensAfter, carriedTokens }: Opening): string {
  const sizes = [
    ...(tokensBefore === undefined ? [] : [`${formatCount(tokensBefore)} tokens before it`]),
    ...(tokensAfter === undefined ? [] : [`${formatCount(tokensAfter)} after it`]),
    `${formatCount(carriedTokens)} in the summary and what was kept`,
  ];
  return `begins with a compaction: ${sizes.join(', ')}`;
}

function aboutOf({ reader, format, model }: Inspected): readonly string[] {
  return [...(reader === 'json' ? [] : [reader]), format, ...(model === undefined ? [] : [model])];
}

const LEVEL_STYLES = { ok: 'green', warning: 'yellow', critical: 'red' } as const;
