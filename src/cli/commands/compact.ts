import { runCompaction } from '../../compaction/engine.ts';
import { type CompactionEvent, createEngine } from '../../compaction/options.ts';
import { type Change, changeOf, type NotCompacted, type Strategy } from '../../compaction/plan/strategy.ts';
import { createStrategy, strategies } from '../../compaction/strategies/registry.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { Conversation } from '../../conversation/format.ts';
import { mendConversation } from '../../formats/mend/mend.ts';
import { withLogging } from '../../integrations/node.ts';
import type { Summarizer } from '../../memory/summary-request.ts';
import type { Store } from '../../stores/store.ts';
import { requestTokens } from '../../tokens/measure.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import type { CommandDefinition, GivenArguments } from '../command.ts';
import { deliver, writesConversation } from '../compact/result.ts';
import {
  createSummarizer,
  readSettings,
  setOption,
  strategyHelp,
  summarizerOptions,
} from '../compaction-options.ts';
import { EXIT_CODE_TEXT, type ExitCode, exitCodeOf, exitCodes, worstOf } from '../exit-codes.ts';
import { checkOutputs, forceOption, unwritable } from '../files.ts';
import { untilInterrupted } from '../interruption.ts';
import { type Report, reportError } from '../output.ts';
import { findRecording, readingOptions, readModel } from '../recordings.ts';
import type { RunArchive } from '../session-archive.ts';
import { findSessionWriter, resumeOption, targetNames } from '../session-output.ts';
import { overStore } from '../store.ts';

/** `roundfold compact`: a smaller conversation, and an account of what became of every message. */
export const compact: CommandDefinition = {
  name: 'compact',
  summary: 'write a smaller, legal conversation and say what became of every message',
  arguments: '<file>',
  argumentHelp: 'a session file, request body or list of messages; `-` reads standard input',
  options: [
    {
      flags: '--budget <tokens|share>',
      help: 'what the request may have afterwards: 30000 or 40% (default 50%)',
    },
    { flags: '--out <file>', help: 'write the conversation there instead of standard output' },
    { flags: '--dry-run', help: 'show what would happen and write nothing' },
    {
      flags: '--show',
      help: 'print the memory that takes the place of earlier messages, as the model will read it, instead of the conversation',
    },
    {
      flags: '--as <format>',
      help: 'wire format of the result, or the agent whose session file it becomes (default: the wire format it was in)',
      choices: targetNames,
    },
    resumeOption,
    { flags: '--receipt <file>', help: 'write there what became of every message, as JSON' },
    { flags: '--html <file>', help: 'write the same there as a page; it needs no network' },
    {
      flags: '--explain',
      help: 'say what the compaction costs now, when it has paid, and whether this is the moment',
    },
    {
      flags: '--idle <seconds>',
      help: 'with --explain: how long ago the last request was, by which the prompt cache expires (default 0)',
    },
    {
      flags: '--store <address>',
      help: 'keep what leaves there (a path or postgres://…), so that the handles in the result can be recalled',
    },
    { flags: '--log <file>', help: 'append a record of the run, as a line of JSON' },
    forceOption,
    {
      flags: '--strategy <name>',
      help: 'how to make it smaller (default ladder)',
      choices: strategies.map(({ name }) => name),
    },
    setOption,
    { flags: '--pin <regex>', help: 'keep messages in which this is found; may be repeated', isList: true },
    ...summarizerOptions,
    { flags: '--instructions <text>', help: 'what a summary should look after' },
    { flags: '--conversation <number>', help: 'which conversation of the file (default the first)' },
    ...readingOptions,
  ],
  examples: [
    ['roundfold compact session.jsonl --dry-run', 'look first'],
    ['roundfold compact session.jsonl --budget 20% --show', 'read what the model would still know'],
    ['roundfold compact session.jsonl --budget 40% --out smaller.json', 'to two fifths of its size'],
    ['roundfold compact session.jsonl --dry-run --explain --idle 600', 'what it costs after ten minutes'],
    ['roundfold compact session.jsonl --budget 40% --resume', 'and go on in the agent that wrote it'],
    ['roundfold compact session.jsonl --as pi --resume', 'and go on in another agent'],
    ['roundfold compact session.jsonl --store notes.sqlite --out small.json', 'and recall what left'],
    ['roundfold compact session.jsonl --as openai-chat --out chat.json', 'and go on with another provider'],
    [
      'roundfold compact request.json --strategy sliding-window --set keepLast=20',
      'keep the last 20 messages',
    ],
  ],
  details: () => `${strategyHelp()}\n${EXIT_CODE_TEXT}\n`,
  run,
};

async function run(given: GivenArguments, report: Report): Promise<ExitCode> {
  if (given.text('store') === undefined) return compactFile(given, report, undefined);
  return overStore(given, report, ({ access }) => compactFile(given, report, access.forWriting()));
}

async function compactFile(
  given: GivenArguments,
  report: Report,
  store: Store | undefined,
): Promise<ExitCode> {
  checkOutputs(given, given.positional);
  const idleSeconds = readIdleSeconds(given);
  const summarizer = createSummarizer(given);
  const inner = createStrategy(given.text('strategy') ?? 'ladder', readSettings(given));
  const recording = await findRecording(given, report);
  const writer = findSessionWriter(given, recording);
  const recorded = recording.conversations.at(-1);
  if (recorded === undefined)
    throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
  const model = readModel(given, recording.transcript.model ?? recorded.frame.model);
  const { strategy, log } = logged(inner, given.text('log'));
  const engine = createEngine({
    model,
    strategy,
    summarizer: announced(summarizer, report),
    pins: { patterns: (given.list('pin') ?? []).map(readPattern) },
    onEvent: (event) => sayEvent(report, event),
    // The budget alone says how small to get: there is no window to fill, and no price to pay.
    windowTokens: 0,
    economy: false,
  });
  // A provider would refuse open calls and lost results of a recording, so they are mended first, and reported.
  const { conversation, repairs } = mendConversation(recorded, { model });
  const tokens = requestTokens(conversation, engine.estimator);
  const archive = store === undefined ? undefined : await openArchive(store, conversation, recording, given);
  const targetTokens = readBudget(given.text('budget') ?? '50%', tokens);
  const { value: outcome, stoppedWith } = await untilInterrupted(async (signal) => {
    const turn = { conversation, tokens, idleSeconds: undefined, signal, handleFor: archive?.handleFor };
    return (await runCompaction(engine, turn, { trigger: 'manual', targetTokens })).outcome;
  });
  await keepWhatLeft(store, archive, changeOf(outcome), given);
  const code =
    outcome.status === 'failed'
      ? sayFailure(report, outcome, stoppedWith)
      : deliver({
          report,
          given,
          recording,
          writer,
          conversation,
          model,
          engine,
          targetTokens,
          outcome,
          repairs,
          idleSeconds,
        });
  const isWritten = outcome.status !== 'failed' && writesConversation(given);
  return worstOf([code, ...sayLogFailure(report, log, isWritten)]);
}

/** Loaded here, so that help and runs without a store do without. */
const loadArchive = () => import('../session-archive.ts');

async function openArchive(
  store: Store,
  conversation: Conversation,
  { transcript }: Recording,
  given: GivenArguments,
): Promise<RunArchive> {
  const { openRunArchive, sessionName, tenantOf } = await loadArchive();
  const [file = '-'] = given.positional;
  const key = { tenant: await tenantOf(store, undefined), conversation: sessionName(transcript, file) };
  return openRunArchive(conversation, { ...key, createdAt: Date.now() });
}

/** Kept before anything is written: a result never names what cannot be read. */
async function keepWhatLeft(
  store: Store | undefined,
  archive: RunArchive | undefined,
  change: Change | undefined,
  given: GivenArguments,
): Promise<void> {
  if (store === undefined || archive === undefined || change === undefined || given.flag('dryRun')) return;
  const spans = archive.spansIn([change.conversation.messages.map(({ raw }) => raw), change.receipt]);
  const { restoreAll } = await loadArchive();
  await restoreAll(
    store,
    spans.map((span) => ({ span })),
  );
}

/**
 * The idle time to reckon with.
 * @throws RoundfoldError `usage` when it is no number of seconds, or told to nobody
 */
function readIdleSeconds(given: GivenArguments): number {
  const text = given.text('idle');
  if (text === undefined) return 0;
  if (!given.flag('explain')) {
    throw new RoundfoldError('usage', '--idle says nothing without --explain', {
      remedy: 'Add --explain to see what the compaction costs after such a pause.',
    });
  }
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new RoundfoldError('usage', `--idle wants seconds, not ${JSON.stringify(text)}`, {
    remedy: 'For example --idle 600 for a pause of ten minutes.',
  });
}

/**
 * What the request may have, in tokens.
 * @throws RoundfoldError `usage` for what is neither tokens nor a share
 */
function readBudget(text: string, whole: number): number {
  const [, digits = '', percent] = /^([\d_,]{1,15}(?:\.\d{1,6})?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(digits.replaceAll(/[_,]/g, ''));
  if (digits === '' || !(value > 0)) {
    throw new RoundfoldError('usage', `--budget wants tokens or a share, not ${JSON.stringify(text)}`, {
      remedy: 'For example 30000 or 40%.',
    });
  }
  if (percent !== '%') return Math.floor(value);
  // The whole is no whole number: all of it has to fit into 100 %.
  return value < 100 ? Math.floor((whole * value) / 100) : Math.ceil((whole * value) / 100);
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (cause) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('usage', `--pin is no regular expression: ${JSON.stringify(text)}`, {
      cause,
      remedy: 'Put a backslash before characters that are meant as such: \\( \\[ \\. \\*',
    });
  }
}

/** A model takes its time: whoever watches is told before it is asked. */
function announced(inner: Summarizer, { terminal }: Report): Summarizer {
  if (!inner.asksModel || !terminal.isWatched) return inner;
  return {
    ...inner,
    summarize(request) {
      terminal.talk('a model writes the summary; Ctrl-C stops it\n');
      return inner.summarize(request);
    },
  };
}

/** A model that failed costs nothing but quality; whoever named it is told. */
function sayEvent({ terminal }: Report, event: CompactionEvent): void {
  if (event.type !== 'summarizer-failed') return;
  const words = `${event.summarizer} wrote no summary (${event.message}); roundfold wrote it without a model`;
  terminal.talk(`${terminal.styleTalk('yellow', 'note')}: ${words}\n`);
}

/** A log, and what went wrong with it. */
interface Log {
  readonly path: string;
  failure?: unknown;
}

function logged(
  inner: Strategy,
  path: string | undefined,
): { readonly strategy: Strategy; readonly log?: Log } {
  if (path === undefined) return { strategy: inner };
  const log: Log = { path };
  const onSinkError = (error: unknown): void => {
    log.failure = error;
  };
  return { strategy: withLogging(inner, path, { onSinkError }), log };
}

function sayFailure(
  report: Report,
  { reason, message }: NotCompacted,
  stoppedWith: ExitCode | undefined,
): ExitCode {
  if (stoppedWith !== undefined) {
    reportError(report, {
      code: 'interrupted',
      message: 'interrupted; nothing was written',
      remedy: 'Run it again when you like: the original is as it was.',
    });
    return stoppedWith;
  }
  reportError(report, { code: reason, message, remedy: 'Nothing was written. Try another --strategy.' });
  return exitCodes.failed;
}

/** A log that cannot be written costs the log and nothing else. */
function sayLogFailure(report: Report, log: Log | undefined, isWritten: boolean): readonly ExitCode[] {
  if (log?.failure === undefined) return [];
  const error = unwritable(log.path, log.failure);
  const rest = isWritten ? 'The conversation was written all the same.' : 'Only the log is missing.';
  const { code, message, remedy = '' } = error;
  reportError(report, { code, message, remedy: `${rest} ${remedy}` });
  return [exitCodeOf(error)];
}
