import { RoundfoldError } from '../../conversation/errors.ts';
import type { Frame } from '../../conversation/format.ts';
import { printable } from '../../conversation/printable.ts';
import type { InspectedSession } from '../../report/html/inspection-page.ts';
import { type Inspection, inspectConversation } from '../../report/inspection.ts';
import { inspectionText } from '../../report/inspection-text.ts';
import { type RoundSeries, roundSeries } from '../../report/round-series.ts';
import { countOf, drawTable, formatShare, formatShort } from '../../report/terminal.ts';
import { contextWindowForModel, findModel } from '../../tokens/catalog.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import { loadExactCounter } from '../../tokens/exact-counter.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import type { CommandDefinition, GivenArguments } from '../command.ts';
import { eachRecording, readingOptions } from '../each-recording.ts';
import { exitCodes } from '../exit-codes.ts';
import { collectPage } from '../inspection-page.ts';
import { checkOutputs, forceOption } from '../output-files.ts';
import { type Report, writeJson } from '../report.ts';
import type { Terminal } from '../terminal.ts';

/** `roundfold inspect`: what is in it, and where its tokens go. */
export const inspect: CommandDefinition = {
  name: 'inspect',
  summary: 'show what is in a conversation and where its tokens go',
  arguments: '<file...>',
  argumentHelp:
    'session files, request bodies, lists of messages, logs of requests; `-` reads standard input',
  options: [
    ...readingOptions,
    { flags: '--window <tokens>', help: "size of the context window, instead of the model's" },
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
  async run(given, terminal) {
    const report = { terminal, json: given.flag('json') };
    checkOutputs(given, given.positional);
    const settings = await readSettings(given);
    const page = collectPage(given);
    let seen: Inspected[] = [];
    const code = await eachRecording(given, report, {
      visit(recording, file) {
        const inspected = inspectRecording(recording, settings);
        page?.add(toSession(file, inspected, seriesOf(recording, inspected.model, settings)));
        if (report.json) printJson(report, file, inspected);
        else seen = remember(seen, inspected);
        return exitCodes.done;
      },
      endFile(file) {
        if (!report.json) printFile(report, file, seen);
        seen = [];
      },
    });
    page?.write(terminal);
    return code;
  },
};

interface Settings {
  readonly model: string | undefined;
  readonly windowTokens: number | undefined;
  readonly top: number;
  readonly countText: ((text: string) => number) | undefined;
  readonly estimators: Map<string, TokenEstimator>;
}

async function readSettings(given: GivenArguments): Promise<Settings> {
  const model = given.text('model');
  return {
    model,
    windowTokens: readCount(given, 'window'),
    top: readCount(given, 'top') ?? 5,
    countText: given.flag('exact') ? await loadExactCounter(exactEncoding(model)) : undefined,
    estimators: new Map(),
  };
}

function readCount(given: GivenArguments, option: string): number | undefined {
  const text = given.text(option);
  if (text === undefined) return undefined;
  const count = Number(text.replaceAll(/[_,]/g, ''));
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new RoundfoldError('usage', `--${option} wants a whole number above 0, not ${JSON.stringify(text)}`);
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
  readonly notes: readonly string[];
  readonly inspection: Inspection;
}

function inspectRecording({ transcript, conversations }: Recording, settings: Settings): Inspected {
  const live = conversations.at(-1);
  if (live === undefined)
    throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
  const model = settings.model ?? transcript.model ?? live.frame.model;
  // A session that names its window was recorded in it; a model that is asked for has its own.
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
    compactions: conversations.length - 1,
    notes: [...transcript.notes, ...notesOnFrame(live.frame)],
    inspection: inspectConversation(live, { estimator, windowTokens, top: settings.top }),
  };
}

/** The context of the whole session, round by round. */
function seriesOf({ transcript, conversations }: Recording, model: string | undefined, settings: Settings) {
  const stretches = conversations.map((conversation, index) => ({
    conversation,
    opening: transcript.segments[index]?.opening,
  }));
  return roundSeries('recorded', stretches, estimatorFor(model, settings));
}

function notesOnFrame({ continues, managedBy }: Frame): readonly string[] {
  return [
    ...(continues === undefined ? [] : [`part of the history is on the server (${continues})`]),
    ...(managedBy === undefined ? [] : [`the provider shortens this context itself (${managedBy})`]),
  ];
}

/** What a prompt may have at most: some models keep part of their window for the output alone. */
function promptLimit(model: string): number {
  return findModel(model)?.maxInputTokens ?? contextWindowForModel(model);
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

/** So many conversations of one file are listed; of a log with thousands the largest are enough. */
const LISTED = 20;

/** Keeps the largest, so that a log of any length costs little. */
function remember(seen: readonly Inspected[], next: Inspected): Inspected[] {
  const all = [...seen, next];
  if (all.length < 2 * LISTED) return all;
  return all.toSorted((left, right) => sizeOf(right) - sizeOf(left)).slice(0, LISTED);
}

function sizeOf({ inspection }: Inspected): number {
  return inspection.context.tokens;
}

function toSession(file: string, inspected: Inspected, series: RoundSeries): InspectedSession {
  const { title, notes, inspection } = inspected;
  return { file, title, about: aboutOf(inspected), notes, inspection, series };
}

function printFile({ terminal }: Report, file: string, seen: readonly Inspected[]): void {
  const bySize = seen.toSorted((left, right) => sizeOf(right) - sizeOf(left));
  const shown = seen.find(({ kind }) => kind === 'main' && seen.length <= LISTED) ?? bySize[0];
  if (shown === undefined) return;
  const others = bySize.filter((inspected) => inspected !== shown).slice(0, LISTED);
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
  terminal.out(`  ${printable(title)}: ${counts.join(', ')}\n`);
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
      level: (level, text) => terminal.style(LEVEL_STYLES[level], text),
    }),
  );
}

function aboutOf({ reader, format, model }: Inspected): readonly string[] {
  return [...(reader === 'json' ? [] : [reader]), format, ...(model === undefined ? [] : [model])];
}

const LEVEL_STYLES = { ok: 'green', warning: 'yellow', critical: 'red' } as const;
