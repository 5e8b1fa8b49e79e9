/** All figures of one context at one cut: needs, probes, demands, legality, prompt cache. */

import type { Receipt } from '../compaction/plan/receipt.ts';
import { findContract } from '../contracts/registry.ts';
import { currentTurnStart } from '../conversation/cuts.ts';
import { type Conversation, withMessages, writeConversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import { decisionsOf, keptDecisions } from './decisions.ts';
import { type FileHistory, fileHistoryOf, staleLinesOf } from './file-history.ts';
import { isCheckTold, type LastCheck, lastCheckOf } from './last-check.ts';
import type { Figures } from './measures.ts';
import { type MissedNeeds, retrievableFrom, type Share, scoreNeeds } from './need-score.ts';
import type { Needs } from './needs.ts';
import { type Probe, scoreProbes } from './probes.ts';
import { contextText, messageText } from './texts.ts';
import type { Cut } from './trajectory.ts';

/** Everything that contexts are asked for at one cut, worked out once for all of them. */
export interface Exam {
  readonly cut: Cut;
  readonly needs: Needs;
  /** Empty where nobody has written any. */
  readonly probes: readonly Probe[];
  readonly files: FileHistory;
  readonly lastCheck: LastCheck | undefined;
  readonly decisions: readonly string[];
}

/** Prepares the questions for the contexts of one cut. */
export function examOf(cut: Cut, needs: Needs, probes: readonly Probe[] = []): Exam {
  const { messages } = cut.prefix;
  return {
    cut,
    needs,
    probes,
    files: fileHistoryOf(messages),
    lastCheck: lastCheckOf(messages),
    decisions: decisionsOf(messages),
  };
}

/** Rules of the wire format that these messages break and the recorded prefix did not. Empty for a legal output. */
export function brokenRules(prefix: Conversation, output: readonly Message[]): readonly string[] {
  const known = new Set(rulesBrokenBy(prefix));
  return rulesBrokenBy(withMessages(prefix, output)).filter((rule) => !known.has(rule));
}

function rulesBrokenBy(conversation: Conversation): readonly string[] {
  const violations = findContract(conversation.format.name)?.check(writeConversation(conversation), {
    scope: 'messages',
  });
  const broken = violations?.filter(({ severity }) => severity === 'error').map(({ rule }) => rule) ?? [];
  return [...new Set(broken)];
}

/** Share of the tokens of `after` that stand in front, unchanged since `before`: what a prompt cache still knows. */
export function stableShare(
  before: readonly Message[],
  after: readonly Message[],
  countMessage: (message: Message) => number,
): number {
  let stable = 0;
  let total = 0;
  let isStable = true;
  for (const [index, message] of after.entries()) {
    const tokens = countMessage(message);
    isStable &&= before[index]?.raw === message.raw;
    if (isStable) stable += tokens;
    total += tokens;
  }
  return total === 0 ? 1 : stable / total;
}

/** What stands in the place of a prefix, and the account of it where there is one. */
export interface RowOutput {
  readonly messages: readonly Message[];
  readonly receipt?: Receipt | undefined;
}

/** What was found missing or wrong in a context. */
export interface Missed extends MissedNeeds {
  readonly probes: readonly Probe[];
  readonly decisions: readonly string[];
  /** Undefined where it is told, or where there was none. */
  readonly lastCheck: LastCheck | undefined;
  /** Replaced lines of files that are shown as if they were current. */
  readonly staleLines: readonly string[];
  /** Rules of the wire format that the output breaks and the prefix did not. */
  readonly brokenRules: readonly string[];
}

/** The figures of a context, and what it misses. */
export interface Score {
  readonly figures: Figures;
  readonly missed: Missed;
}

/** Counts the tokens of messages. */
export type CountMessages = (messages: readonly Message[]) => number;

/** Scores the messages that stand in the place of the prefix. Tokens are counted as those of the cut were. */
export function scoreOutput(
  exam: Exam,
  { messages, receipt }: RowOutput,
  countMessages: CountMessages,
): Score {
  const { cut, needs, probes, decisions, lastCheck } = exam;
  const before = cut.prefix.messages;
  const text = contextText(messages);
  const answered = scoreProbes(probes, text);
  const met = scoreNeeds(needs, messages, retrievableFrom(before, messages, receipt));
  const { shown, stale } = staleLinesOf(memoryText(messages), exam.files);
  const keptSentences = keptDecisions(decisions, text);
  const isTold = lastCheck && isCheckTold(lastCheck, text);
  const broken = brokenRules(cut.prefix, messages);
  return {
    figures: {
      kept: keptShare(exam, countMessages(messages)),
      probes: probes.length === 0 ? undefined : answered.share,
      names: ratioOf(met.names),
      boundTwoWords: ratioOf(met.boundTwoWords),
      boundFourWordsOrLine: ratioOf(met.boundFourWordsOrLine),
      editLines: ratioOf(met.editLines),
      stale: ratioOf({ kept: stale.length, of: shown }),
      changedFiles: ratioOf(met.changedFiles),
      demands: ratioOf(met.demands),
      lastCheck: isTold === undefined ? undefined : Number(isTold),
      decisions: ratioOf({ kept: keptSentences.size, of: decisions.length }),
      endsWithCurrentTurn: Number(endsWithCurrentTurn(before, messages)),
      illegal: Number(broken.length > 0),
      namesByHandle: ratioOf(met.namesByHandle),
      stablePrefix: stableShare(before, messages, (message) => countMessages([message])),
      tokensToReadAgain: met.tokensToReadAgain,
    },
    missed: {
      ...met.missed,
      probes: answered.missed,
      decisions: decisions.filter((sentence) => !keptSentences.has(sentence)),
      lastCheck: isTold === true ? undefined : lastCheck,
      staleLines: stale,
      brokenRules: broken,
    },
  };
}

/** Instructions stay whatever happens, and count neither before nor after. */
function keptShare({ cut: { prefixTokens, instructionTokens } }: Exam, tokens: number): number {
  return (tokens - instructionTokens) / (prefixTokens - instructionTokens);
}

/** What the messages of ours say, apart from what was kept as it was. */
function memoryText(messages: readonly Message[]): string {
  return messages.flatMap((message) => readSummaryMessage(message) ?? []).join('\n');
}

/** Undefined where there was nothing to keep. */
function ratioOf({ kept, of }: Share): number | undefined {
  return of === 0 ? undefined : kept / of;
}

function endsWithCurrentTurn(given: readonly Message[], left: readonly Message[]): boolean {
  const turn = given.slice(currentTurnStart(given));
  return turn.every((message, index) => isSame(message, left[left.length - turn.length + index]));
}

/** Libraries that keep a message may write it anew. */
function isSame(message: Message, other: Message | undefined): boolean {
  if (other === undefined || message.raw === other.raw) return other !== undefined;
  return message.role === other.role && messageText(message) === messageText(other);
}
