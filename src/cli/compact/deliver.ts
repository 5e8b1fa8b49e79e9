import { pinnedMessages } from '../../compaction/plan/pins.ts';
import { applyPlan } from '../../compaction/plan/plan.ts';
import { type Receipt, writeReceipt } from '../../compaction/plan/receipt.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { printableJson } from '../../conversation/printable.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import type { ConversionChange } from '../../formats/convert/changes.ts';
import { convertConversation } from '../../formats/convert/convert.ts';
import { accountForCompaction } from '../../report/compaction-account.ts';
import { renderReceiptPage } from '../../report/html/receipt-page.ts';
import { preview } from '../../report/preview.ts';
import { survivalLines } from '../../report/survival-lines.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeOutput } from '../output-files.ts';
import { type Report, sayRemedy, writeJson } from '../report.ts';
import { drawExplanation, type Explanation, explainCosts } from './explain.ts';
import type { Run } from './run.ts';
import { memoriesAfter, memoryText, showMemory, writesConversation } from './show.ts';

/**
 * Writes the conversation and its receipt, and says what became of it. With `--dry-run` it only says; with `--show` the memory
 * takes the place of the conversation.
 */
export function deliver(run: Run): ExitCode {
  const { report, given, conversation, engine, outcome, repairs } = run;
  const compacted = changeOf(outcome)?.conversation ?? conversation;
  const as = given.text('as') ?? conversation.format.name;
  const converted = convertConversation(compacted, as);
  const conversion = { from: conversation.format.name, to: as, changes: converted.changes };
  const receipt = {
    ...receiptOf(run),
    ...(conversion.from === conversion.to ? {} : { conversion }),
    ...(repairs.length === 0 ? {} : { repairs }),
  };
  const tokensAfter = Math.round(requestTokens(converted.conversation, engine.estimator));
  const costs = given.flag('explain') ? explainCosts(run) : undefined;
  const isDryRun = given.flag('dryRun');
  if (isDryRun) showPreview(run);
  else writeFiles(run, writeConversation(converted.conversation), receipt);
  const isShown = given.flag('show');
  if (isShown && !report.json) showMemory(run);
  if (report.json && isOutFree(run)) {
    const { status, reason } = outcome;
    const { targetTokens } = run;
    const memory = isShown ? (memoryText(memoriesAfter(run)) ?? null) : undefined;
    const told = { status, reason, targetTokens, tokensAfter, isDryRun, memory, receipt, costs };
    writeJson(report, 'compaction', told);
  }
  sayChanges(report, 'mended before it was compacted', repairs);
  sayOutcome(run, receipt);
  if (costs !== undefined) sayCosts(run, costs);
  sayChanges(report, `as ${as}, not everything could stay as it was`, converted.changes);
  return judgeBudget(run, compacted, tokensAfter);
}

/** Whether the conversation itself does not go to standard output. */
function isOutFree({ given }: Run): boolean {
  return given.text('out') !== undefined || !writesConversation(given);
}

/** What was asked for is data, unless the conversation or its memory is the data. */
function sayCosts(run: Run, costs: Explanation): void {
  const { terminal, json } = run.report;
  const text = drawExplanation(costs, terminal.columns);
  if (isOutFree(run) && !run.given.flag('show') && !json) terminal.out(text);
  else terminal.talk(text);
}

/** The receipt of a run that changed nothing says just that. */
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

function writeFiles(run: Run, value: unknown, receipt: object): void {
  const { report, given } = run;
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const isWritten = writeOutput(given, 'out', () => text) !== undefined;
  if (!isWritten && writesConversation(given)) report.terminal.data(printableJson(text));
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
