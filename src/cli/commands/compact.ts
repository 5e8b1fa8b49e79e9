import { type Recording, readRecordings } from '../../config/recordings.ts';
import { RoundfoldError } from '../../core/errors.ts';
import { type Conversation, writeConversation } from '../../core/format.ts';
import { requestTokens } from '../../core/receipt.ts';
import type { Compacted, Outcome, StrategyContext } from '../../core/strategy.ts';
import { createTokenEstimator } from '../../core/token-estimator.ts';
import { findModel } from '../../models/catalog.ts';
import { tokenProfileForModel } from '../../models/token-profiles.ts';
import { previewText } from '../../report/preview.ts';
import { formatCount } from '../../report/terminal.ts';
import { createStrategy, strategies } from '../../strategies/registry.ts';
import { fileSource } from '../../transcripts/input/source.ts';
import type { CommandDefinition, GivenArguments } from '../command.ts';
import { readingOptions } from '../each-recording.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../report.ts';
import { createSummarizer, summarizerNames } from '../summarizers.ts';
import { writePrivateFile } from '../write-file.ts';

/** `roundfold compact`: a smaller conversation, and an account of what became of every message. */
export const compact: CommandDefinition = {
  name: 'compact',
  summary: 'write a smaller, legal conversation and say what became of every message',
  arguments: '<file>',
  argumentHelp: 'a session file, request body or list of messages; `-` reads standard input',
  options: [
    ...readingOptions,
    {
      flags: '--strategy <name>',
      help: 'how to make it smaller (default ladder)',
      choices: strategies.map(({ name }) => name),
    },
    { flags: '--set <key=value>', help: 'option of the strategy; may be repeated', isList: true },
    {
      flags: '--budget <tokens|share>',
      help: 'what the request may have afterwards: 30000 or 40% (default 50%)',
    },
    {
      flags: '--summarizer <name>',
      help: 'who writes summaries (default outline, which needs no model)',
      choices: summarizerNames,
    },
    { flags: '--summarizer-model <name>', help: 'model that writes them' },
    { flags: '--instructions <text>', help: 'what a summary should look after' },
    { flags: '--pin <regex>', help: 'keep messages in which this is found; may be repeated', isList: true },
    { flags: '--conversation <number>', help: 'which conversation of the file (default the first)' },
    { flags: '--out <file>', help: 'write the conversation there instead of standard output' },
    { flags: '--receipt <file>', help: 'write the receipt there, as JSON' },
    { flags: '--dry-run', help: 'show what would happen and write nothing' },
  ],
  examples: [
    ['roundfold compact session.jsonl --budget 40% --out smaller.json', 'to two fifths of its size'],
    [
      'roundfold compact request.json --strategy sliding-window --set keepLast=20',
      'keep the last 20 messages',
    ],
    ['roundfold compact session.jsonl --dry-run', 'look first'],
  ],
  async run(given, terminal) {
    const report = { terminal, json: given.flag('json') };
    const recording = await findRecording(given);
    const conversation = recording.conversations.at(-1);
    if (conversation === undefined)
      throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
    const model = given.text('model') ?? recording.transcript.model ?? conversation.frame.model;
    const context = createContext(given, conversation, model);
    const strategy = createStrategy(given.text('strategy') ?? 'ladder', readSettings(given));
    const outcome = await strategy.compact(conversation, context);
    return finish({ report, given, conversation, outcome, targetTokens: context.targetTokens });
  },
};

async function findRecording(given: GivenArguments): Promise<Recording> {
  const [file = '-'] = given.positional;
  const wanted = Number(given.text('conversation') ?? 1);
  if (!Number.isInteger(wanted) || wanted < 1)
    throw new RoundfoldError('usage', '--conversation wants a number from 1 on');
  let seen = 0;
  const recordings = readRecordings(await fileSource(file), {
    format: given.text('format'),
    reader: given.text('reader'),
  });
  for await (const recording of recordings) if (++seen === wanted) return recording;
  throw new RoundfoldError('usage', `there is no conversation ${wanted} in ${file}`, {
    remedy: `It holds ${seen}.`,
  });
}

function createContext(
  given: GivenArguments,
  conversation: Conversation,
  model: string | undefined,
): StrategyContext {
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  return {
    estimator,
    targetTokens: readBudget(given.text('budget') ?? '50%', requestTokens(conversation, estimator)),
    trigger: 'manual',
    pins: { patterns: (given.list('pin') ?? []).map(readPattern) },
    summarizer: createSummarizer(given.text('summarizer') ?? 'outline', given.text('summarizerModel')),
    bindsReasoning: (model === undefined ? undefined : findModel(model)?.bindsReasoning) === true,
    signal: undefined,
  };
}

function readBudget(text: string, whole: number): number {
  const [, digits = '', percent] = /^([\d_,]{1,15}(?:\.\d{1,6})?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(digits.replaceAll(/[_,]/g, ''));
  if (digits === '' || !(value > 0)) {
    throw new RoundfoldError('usage', `--budget wants tokens or a share, not ${JSON.stringify(text)}`, {
      remedy: 'For example 30000 or 40%.',
    });
  }
  return Math.floor(percent === '%' ? (whole * value) / 100 : value);
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (cause) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('usage', `--pin is no regular expression: ${JSON.stringify(text)}`, { cause });
  }
}

function readSettings(given: GivenArguments): Readonly<Record<string, unknown>> {
  const instructions = given.text('instructions');
  const settings = (given.list('set') ?? []).map((setting) => {
    const equals = setting.indexOf('=');
    if (equals < 1)
      throw new RoundfoldError('usage', `--set wants key=value, not ${JSON.stringify(setting)}`);
    return [setting.slice(0, equals), setting.slice(equals + 1)] as const;
  });
  return { ...Object.fromEntries(settings), ...(instructions === undefined ? {} : { instructions }) };
}

interface Finished {
  readonly report: Report;
  readonly given: GivenArguments;
  readonly conversation: Conversation;
  readonly outcome: Outcome;
  readonly targetTokens: number;
}

function finish({ report, given, conversation, outcome, targetTokens }: Finished): ExitCode {
  const { terminal } = report;
  if (outcome.status === 'failed') {
    const isUpstream = outcome.reason === 'summary-upstream';
    terminal.talk(`${terminal.styleTalk('red', 'error')} ${outcome.message}\n`);
    terminal.talk(
      `      ${terminal.styleTalk('dim', 'Nothing was changed. The summarizer outline needs no model.')}\n`,
    );
    return isUpstream ? exitCodes.upstream : exitCodes.failed;
  }
  if (outcome.status === 'compacted' && given.flag('dryRun')) {
    terminal.out(previewText(conversation, outcome, terminal.columns));
    return exitCodes.done;
  }
  const value =
    outcome.status === 'compacted'
      ? writeConversation(outcome.conversation)
      : writeConversation(conversation);
  if (!given.flag('dryRun')) writeOut(report, given, value);
  if (outcome.status !== 'compacted') {
    terminal.talk(`${outcome.message}: unchanged\n`);
    return outcome.status === 'insufficient' ? exitCodes.budgetNotMet : exitCodes.done;
  }
  return reportCompacted(report, given, outcome, targetTokens);
}

function writeOut({ terminal }: Report, given: GivenArguments, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const file = given.text('out');
  if (file === undefined) terminal.out(text);
  else writePrivateFile(file, text);
}

function reportCompacted(
  report: Report,
  given: GivenArguments,
  { receipt, reason }: Compacted,
  targetTokens: number,
): ExitCode {
  const { terminal } = report;
  const file = given.text('receipt');
  if (file !== undefined) writePrivateFile(file, `${JSON.stringify(receipt, null, 2)}\n`);
  if (report.json && given.text('out') !== undefined)
    writeJson(report, 'compaction', { receipt, reason, targetTokens });
  const { tokensBefore, tokensAfter, messagesBefore, messagesAfter } = receipt;
  terminal.talk(
    `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens, ${messagesBefore} → ${messagesAfter} messages (${reason})\n`,
  );
  if (tokensAfter <= targetTokens) return exitCodes.done;
  terminal.talk(
    `${terminal.styleTalk('yellow', 'budget not met')}: ${formatCount(targetTokens)} tokens were wanted; what is pinned, the newest rounds, the instructions and the tools take the rest\n`,
  );
  return exitCodes.budgetNotMet;
}
