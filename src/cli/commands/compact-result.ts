import { adviceFor, type CompactionAdvice, explainAdvice } from '../../compaction/economics/advice.ts';
import { priceSetOf } from '../../compaction/economics/costs.ts';
import type { Engine } from '../../compaction/options.ts';
import { pinnedMessages } from '../../compaction/plan/pins.ts';
import { applyPlan } from '../../compaction/plan/plan.ts';
import { type Receipt, writeReceipt } from '../../compaction/plan/receipt.ts';
import { changeOf, type Outcome } from '../../compaction/plan/strategy.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { printable, printableJson, printableLines } from '../../conversation/printable.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import type { ConversionChange } from '../../formats/change-log.ts';
import { convertConversation } from '../../formats/convert/convert.ts';
import { accountForCompaction } from '../../report/compaction-account.ts';
import { renderReceiptPage } from '../../report/html/receipt-page.ts';
import {
  type CarriedMemory,
  carriedMemories,
  type MemoryLine,
  memoryLines,
} from '../../report/memory-lines.ts';
import { preview, survivalLines } from '../../report/preview.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import { findModel } from '../../tokens/catalog.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { thresholdsFor } from '../../tokens/thresholds.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import type { SessionWriter } from '../../transcripts/session-writer.ts';
import type { GivenArguments } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeOutput } from '../files.ts';
import { type Report, sayRemedy, writeJson } from '../output.ts';
import { createSessionOutput, placeSession, resumeCommand, type SessionOutput } from '../session-output.ts';
import { type Terminal, wrapText } from '../terminal.ts';

/** A run that did not fail, and all it takes to write down what came of it. */
export interface Run {
  readonly report: Report;
  readonly given: GivenArguments;
  readonly recording: Recording;
  /** Writes the agent's session file that is asked for; undefined when a wire format is. */
  readonly writer: SessionWriter | undefined;
  readonly conversation: Conversation;
  /** The model whose prices and ways of counting apply; undefined when nobody named one. */
  readonly model: string | undefined;
  readonly engine: Engine;
  /** What the request may have. */
  readonly targetTokens: number;
  readonly outcome: Outcome;
  /** Seconds since the last request, by which the prompt cache expires. */
  readonly idleSeconds: number;
  /** What had to be mended before it could be compacted. */
  readonly repairs: readonly ConversionChange[];
}

/**
 * Writes the conversation and its receipt, and says what became of it. With `--dry-run` it only says; with `--show` the memory
 * takes the place of the conversation.
 */
export function deliver(run: Run): ExitCode {
  const { report, given, conversation, engine, outcome, repairs } = run;
  const compacted = changeOf(outcome)?.conversation ?? conversation;
  const result = resultOf(run, compacted);
  const { as, changes } = result;
  const conversion = { from: conversation.format.name, to: as, changes };
  const receipt = {
    ...receiptOf(run),
    ...(conversion.from === conversion.to ? {} : { conversion }),
    ...(repairs.length === 0 ? {} : { repairs }),
  };
  const tokensAfter = Math.round(requestTokens(result.conversation, engine.estimator));
  const costs = given.flag('explain') ? explainCosts(run) : undefined;
  const isDryRun = given.flag('dryRun');
  if (isDryRun) showPreview(run);
  else writeFiles(run, result, receipt);
  const isShown = given.flag('show');
  if (isShown && !report.json) showMemory(run);
  if (report.json && isOutFree(run)) {
    const { status, reason } = outcome;
    const { targetTokens } = run;
    const memory = isShown ? (memoryText(memoriesAfter(run)) ?? null) : undefined;
    const session = isDryRun ? undefined : sessionFacts(result.session);
    const told = { status, reason, targetTokens, tokensAfter, isDryRun, memory, receipt, costs, session };
    writeJson(report, 'compaction', told);
  }
  sayChanges(report, 'mended before it was compacted', repairs);
  sayOutcome(run, receipt);
  if (costs !== undefined) sayCosts(run, costs);
  sayChanges(report, `as ${as}, not everything could stay as it was`, changes);
  if (given.flag('resume') && !isDryRun && result.session !== undefined) saySession(run, result.session);
  return judgeBudget(run, compacted, tokensAfter);
}

/** What is written in the end. */
interface Result {
  /** Name of the wire format or the agent. */
  readonly as: string;
  readonly conversation: Conversation;
  readonly changes: readonly ConversionChange[];
  readonly session: SessionOutput | undefined;
  text(): string;
}

function resultOf(
  { given, writer, recording, model, engine, conversation }: Run,
  left: Conversation,
): Result {
  if (writer === undefined) {
    const as = given.text('as') ?? left.format.name;
    const converted = convertConversation(left, as);
    const text = () => `${JSON.stringify(writeConversation(converted.conversation), null, 2)}\n`;
    return { as, ...converted, session: undefined, text };
  }
  const tokensBefore = Math.round(requestTokens(conversation, engine.estimator));
  const session = createSessionOutput(writer, left, recording, { model, tokensBefore });
  const { changes, text } = session.written;
  return { as: writer.name, conversation: left, changes, session, text: () => text };
}

/** What a program needs to go on with a new session. */
function sessionFacts(session: SessionOutput | undefined): object | undefined {
  if (session === undefined) return undefined;
  const { writer, written, about, place } = session;
  return {
    agent: writer.name,
    id: written.id,
    folder: about.folder,
    path: place.path,
    command: place.command,
  };
}

/** Where the session is, and how to go on: the command is what was asked for, so it is data. */
function saySession({ report }: Run, session: SessionOutput): void {
  const { terminal, json } = report;
  const whole = (text: string) => printable(text, Number.POSITIVE_INFINITY);
  terminal.talk(`written to ${whole(session.place.path)}; the old session is as it was\n`);
  if (session.missingFolder !== undefined) {
    const folder = whole(session.missingFolder);
    terminal.talk(`${folder}, where it was recorded, is not here: the new session belongs to this folder\n`);
  }
  if (!json) terminal.out(`${whole(resumeCommand(session))}\n`);
}

/** Whether the conversation itself does not go to standard output. */
function isOutFree({ given }: Run): boolean {
  return given.text('out') !== undefined || given.flag('resume') || !writesConversation(given);
}

/** What was asked for is data, unless the conversation or its memory is the data. */
function sayCosts(run: Run, costs: Explanation): void {
  const { terminal, json } = run.report;
  const text = drawExplanation(costs, terminal.columns);
  if (isOutFree(run) && !run.given.flag('show') && !json) terminal.out(text);
  else terminal.talk(text);
}

/** The receipt of the run; where nothing changed, one that says so. */
function receiptOf({ conversation, outcome, engine: { estimator, strategy } }: Run): Receipt {
  const change = changeOf(outcome);
  if (change !== undefined) return change.receipt;
  const untouched = applyPlan(conversation, { steps: [] });
  return writeReceipt(conversation, untouched, { estimator, strategy: strategy.name });
}

function showPreview({
  report: { terminal, json },
  conversation,
  outcome,
  engine: { estimator },
}: Run): void {
  const change = changeOf(outcome);
  if (json || change === undefined) return;
  terminal.out(preview(conversation, change, { columns: terminal.columns, estimator }));
  terminal.talk(`${terminal.styleTalk('dim', '- leaves   ~ is made smaller   + is new')}\n`);
}

function writeFiles(run: Run, { session, text }: Result, receipt: object): void {
  const { report, given } = run;
  const isResumed = given.flag('resume') && session !== undefined;
  if (isResumed) placeSession(session);
  const isWritten = writeOutput(given, 'out', text) !== undefined || isResumed;
  if (!isWritten && writesConversation(given)) report.terminal.data(printableJson(text()));
  writeOutput(given, 'receipt', () => `${JSON.stringify(receipt, null, 2)}\n`);
  writeOutput(given, 'html', () => pageOf(run));
}

/** What became of every message, for a browser. */
function pageOf(run: Run): string {
  const { given, conversation, outcome, engine, targetTokens } = run;
  const { estimator } = engine;
  const reason = outcome.status === 'compacted' ? outcome.reason : outcome.message;
  const accounted = { ...(changeOf(outcome) ?? { conversation, receipt: receiptOf(run) }), reason };
  const account = accountForCompaction(conversation, accounted, { estimator, targetTokens });
  const [file = '-'] = given.positional;
  return renderReceiptPage({ file: file === '-' ? '<stdin>' : file, account, memories: memoriesAfter(run) });
}

function sayOutcome({ report: { terminal }, given, outcome }: Run, receipt: Receipt): void {
  const { tokensBefore, tokensAfter, messagesBefore, messagesAfter } = receipt;
  const reason = outcome.status === 'compacted' ? outcome.reason : outcome.message;
  if (changeOf(outcome) === undefined) {
    terminal.talk(`unchanged, ${formatCount(tokensBefore)} tokens: ${reason}\n`);
  } else if (given.flag('dryRun')) {
    terminal.talk(`by: ${reason}\n`);
  } else {
    terminal.talk(
      `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens, ${messagesBefore} → ${messagesAfter} messages (${reason})\n`,
    );
    terminal.talk(survivalLines(receipt.survival, '  '));
  }
  if (given.flag('dryRun')) terminal.talk('nothing was written (--dry-run)\n');
  else if (!writesConversation(given))
    terminal.talk('the conversation was not written (--show without --out)\n');
}

function sayChanges({ terminal }: Report, heading: string, changes: readonly ConversionChange[]): void {
  if (changes.length === 0) return;
  terminal.talk(`${heading}:\n`);
  for (const { what, became, count } of changes) terminal.talk(`  ${countOf(count, what)} ${became}\n`);
}

function judgeBudget(run: Run, left: Conversation, tokensLeft: number): ExitCode {
  const { targetTokens } = run;
  const { terminal } = run.report;
  if (tokensLeft <= targetTokens) return exitCodes.done;
  const sizes = `${formatCount(targetTokens)} tokens were wanted, ${formatCount(tokensLeft)} are left`;
  terminal.talk(`${terminal.styleTalk('yellow', 'budget not met')}: ${sizes}\n`);
  sayRemedy(
    terminal,
    `Most of it: ${whatIsLeft(left, run.engine)}. Allow a larger --budget, or try another --strategy.`,
  );
  return exitCodes.budgetNotMet;
}

/** What takes the room, the largest first. */
function whatIsLeft({ frame, messages }: Conversation, { estimator, pins }: Run['engine']): string {
  const pinned = pinnedMessages(messages, pins);
  const tokens = new Map([
    ['the instructions', estimator.countSystem(frame)],
    ['the tool definitions', estimator.countTools(frame)],
  ]);
  for (const [index, message] of messages.entries()) {
    const isSummary = readSummaryMessage(message) !== undefined;
    const part = isSummary ? 'the summary' : pinned.has(index) ? 'what is pinned' : 'the newest rounds';
    tokens.set(part, (tokens.get(part) ?? 0) + estimator.countMessage(message));
  }
  return [...tokens]
    .filter(([, count]) => count >= 1)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, NAMED_PARTS)
    .map(([part, count]) => `${part} (${formatCount(count)} tokens)`)
    .join(', ');
}

const NAMED_PARTS = 3;

/** Whether the conversation is written anywhere: whoever asks for the memory alone gets nothing else. */
export function writesConversation(given: GivenArguments): boolean {
  const isPlaced = given.text('out') !== undefined || given.flag('resume');
  return !given.flag('dryRun') && (isPlaced || !given.flag('show'));
}

/** The memories that the conversation has afterwards, be they new or from before. */
function memoriesAfter({ outcome, conversation }: Run): readonly CarriedMemory[] {
  return carriedMemories((changeOf(outcome)?.conversation ?? conversation).messages);
}

/** The memories as one text; undefined where there are none. */
function memoryText(memories: readonly CarriedMemory[]): string | undefined {
  if (memories.length === 0) return undefined;
  return memories.flatMap(({ quoted, text }) => [...quoted, text]).join(BETWEEN);
}

/** Stands between a memory, what is quoted in front of it and, on a screen, what is said below it. */
const BETWEEN = '\n\n';

/** Prints the memory: on a screen with bold headings and within its columns, else as it is. */
function showMemory(run: Run): void {
  const { terminal } = run.report;
  const memories = memoriesAfter(run);
  const text = memoryText(memories);
  if (text === undefined) sayNone(run);
  else if (process.stdout.isTTY) terminal.out(`${drawMemories(memories, terminal)}${BETWEEN}`);
  // Tabs stay tabs: whoever quotes a line of a file in an edit needs it as it was.
  else terminal.data(`${text.split('\t').map(printableLines).join('\t')}\n`);
}

function sayNone({ report: { terminal }, outcome }: Run): void {
  const change = changeOf(outcome);
  const why =
    change === undefined
      ? 'the conversation stays as it is'
      : `${change.receipt.strategy} made the conversation smaller without one`;
  terminal.talk(`there is no memory to show: ${why}\n`);
  sayRemedy(terminal, 'A smaller --budget, or --strategy summarize, writes one.');
}

function drawMemories(memories: readonly CarriedMemory[], terminal: Terminal): string {
  const draw = (lines: readonly MemoryLine[]) => lines.map((line) => drawLine(line, terminal)).join('\n');
  return memories
    .flatMap(({ quoted, text }) => [...quoted.map(linesOfQuotation), memoryLines(text)])
    .map(draw)
    .join(BETWEEN);
}

/** What is quoted may look like a memory, and is none. */
function linesOfQuotation(text: string): readonly MemoryLine[] {
  return text.split('\n').map((line) => ({ kind: 'more', text: line }));
}

/** How a line begins. What follows it in the next line stands below its first word. */
const LEAD = /^ {0,12}(?:- |\[\d{1,6}\] )?/;

function drawLine({ kind, text }: MemoryLine, terminal: Terminal): string {
  if (kind === 'heading') return terminal.style('bold', text);
  // Lines of a file are for copying, so they are not wrapped.
  if (kind === 'code' || kind === 'fence') return text;
  // Escaped before wrapping, since escapes are longer than what they stand for.
  const shown = printableLines(text);
  const lead = LEAD.exec(shown)?.[0] ?? '';
  return `${lead}${wrapText(shown.slice(lead.length), terminal.columns, ' '.repeat(lead.length))}`;
}

/** What a compaction costs, in words and in numbers. */
interface Explanation {
  readonly model: string | undefined;
  readonly idleSeconds: number;
  readonly explanation: string;
  /** Undefined when nobody knows the prices, or when nothing was made smaller. */
  readonly advice: CompactionAdvice | undefined;
}

/** What the compaction costs with the next request, when it has paid, and whether this is the moment. */
function explainCosts(run: Run): Explanation {
  const { idleSeconds, model } = run;
  const advice = adviseOn(run);
  if (advice !== undefined) return { model, idleSeconds, advice, explanation: explainAdvice(advice) };
  return { model, idleSeconds, advice, explanation: whyUnknown(run) };
}

/** The words for a terminal. */
function drawExplanation({ model, advice, idleSeconds, explanation }: Explanation, columns: number): string {
  const pause = idleSeconds === 0 ? 'without a pause' : `after a pause of ${idleSeconds} s`;
  const heading = advice === undefined ? 'costs' : `costs with ${printable(model ?? '')}, ${pause}`;
  return `${heading}:\n${INDENT}${wrapText(explanation, columns, INDENT)}\n`;
}

const INDENT = '  ';

function adviseOn({
  given,
  conversation,
  engine,
  outcome,
  model,
  idleSeconds,
}: Run): CompactionAdvice | undefined {
  const info = model === undefined ? undefined : findModel(model);
  const prices = priceSetOf(info ?? {});
  const change = changeOf(outcome);
  if (info === undefined || prices === undefined || change === undefined) return undefined;
  const summaryModel = given.text('summarizerModel');
  const summaryPrices = summaryModel === undefined ? undefined : priceSetOf(findModel(summaryModel) ?? {});
  const { usage } = outcome;
  return adviceFor(conversation, change.conversation, {
    estimator: engine.estimator,
    prices,
    thresholds: thresholdsFor(info.maxInputTokens ?? info.windowTokens, {
      maxOutputTokens: info.maxOutputTokens,
    }),
    idleSeconds,
    summaryCall: usage === undefined ? undefined : { ...usage, cachedTokens: 0, prices: summaryPrices },
  });
}

function whyUnknown({ outcome, model }: Run): string {
  if (changeOf(outcome) === undefined)
    return 'Nothing was made smaller, so nothing costs more or less than before.';
  return model === undefined
    ? 'The file names no model, so nobody knows the prices. Name one with --model.'
    : `No prices are known for ${JSON.stringify(model)}. Name another model with --model to reckon with its prices.`;
}
