import { pinnedMessages } from '../../compaction/plan/pins.ts';
import { applyPlan } from '../../compaction/plan/plan.ts';
import { type Receipt, writeReceipt } from '../../compaction/plan/receipt.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { printable, printableJson } from '../../conversation/printable.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { type ConversionChange, describeChange } from '../../formats/change-log.ts';
import { convertConversation } from '../../formats/convert/convert.ts';
import { accountForCompaction } from '../../report/compaction-account.ts';
import { renderReceiptPage } from '../../report/html/receipt-page.ts';
import { preview, survivalLines } from '../../report/preview.ts';
import { formatCount } from '../../report/terminal.ts';
import { measureContext, requestTokens } from '../../tokens/measure.ts';
import type { GivenArguments } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeOutput } from '../files.ts';
import { type Report, sayRemedy, writeJson } from '../output.ts';
import { createSessionOutput, placeSession, resumeCommand, type SessionOutput } from '../session-output.ts';
import { drawExplanation, type Explanation, explainCosts } from './costs.ts';
import { memoriesAfter, memoryText, showMemory } from './memory.ts';
import type { Run } from './run.ts';

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
    const session = isDryRun ? undefined : sessionFacts(result.session, given.flag('resume'));
    const contextTokens = measureContext(conversation, engine.estimator).tokens;
    const sizes = { contextTokens, targetTokens, tokensAfter };
    const told = { status, reason, ...sizes, isDryRun, memory, receipt, costs, session };
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
  const tokensAfter = Math.round(requestTokens(left, engine.estimator));
  const [file = '-'] = given.positional;
  const session = createSessionOutput(writer, left, recording, { file, model, tokensBefore, tokensAfter });
  const { changes, text } = session.written;
  return { as: writer.name, conversation: left, changes, session, text: () => text };
}

/** What a program needs to go on with a new session. */
function sessionFacts(session: SessionOutput | undefined, isPlaced: boolean): object | undefined {
  if (session === undefined) return undefined;
  const { writer, written, about, place } = session;
  const found = isPlaced ? { path: place.path, command: place.command } : {};
  return { agent: writer.name, id: written.id, folder: about.folder, ...found };
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
  for (const change of changes) terminal.talk(`  ${describeChange(change)}\n`);
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

/** What was asked for is data, unless the conversation or its memory is the data. */
function sayCosts(run: Run, costs: Explanation): void {
  const { terminal, json } = run.report;
  const text = drawExplanation(costs, terminal.columns);
  if (isOutFree(run) && !run.given.flag('show') && !json) terminal.out(text);
  else terminal.talk(text);
}
