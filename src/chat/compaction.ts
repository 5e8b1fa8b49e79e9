import type { Compactor, CompactResult } from '../config/compactor.ts';
import type { Conversation } from '../core/format.ts';
import type { Outcome, Strategy } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { preview } from '../report/preview.ts';
import { formatCount } from '../report/terminal.ts';
import type { Chat } from './chat.ts';

/** Compacts when it is due, and says so. Called before each request, never inside one. */
export async function compactIfDue(chat: Chat, signal: AbortSignal): Promise<void> {
  const { compactor, dialogue } = chat;
  const before = dialogue.read();
  const { usage } = chat.tokens();
  const { outcome } = await compactor.maybeCompact<unknown>(dialogue.body, { usage, signal });
  await takeOver(chat, before, outcome);
  const isNews = outcome.status === 'failed' || outcome.status === 'insufficient';
  if (isNews && !signal.aborted) sayNothingDone(chat, outcome);
}

/** Compacts now and says what came of it. */
export async function compactNow(
  chat: Chat,
  strategy: Strategy,
  {
    summarizer,
    signal,
  }: { readonly summarizer?: Summarizer | undefined; readonly signal?: AbortSignal } = {},
): Promise<Outcome> {
  const before = chat.dialogue.read();
  const compactor = chat.compactorFor(strategy, { summarizer });
  const { outcome } = await runOn(compactor, chat, signal);
  await takeOver(chat, before, outcome);
  if (outcome.status !== 'compacted') sayNothingDone(chat, outcome);
  return outcome;
}

function runOn(
  compactor: Compactor,
  chat: Chat,
  signal: AbortSignal | undefined,
): Promise<CompactResult<unknown>> {
  return compactor.compact<unknown>(chat.dialogue.body, { usage: chat.tokens().usage, signal });
}

async function takeOver(chat: Chat, before: Conversation, outcome: Outcome): Promise<void> {
  if (outcome.status !== 'compacted') return;
  const { archive, host } = chat.options;
  // Kept before it leaves: a store that fails costs the compaction, not the messages.
  await archive?.keep(before.messages, outcome, host.now());
  chat.dialogue.accept(outcome);
  chat.changed();
  const { strategy, messagesBefore, messagesAfter, tokensBefore, tokensAfter } = outcome.receipt;
  if (chat.isVerbose) {
    chat.say(host.style('bold', `before (${messagesBefore}) and after (${messagesAfter})`));
    host.out(preview(before, outcome, { columns: host.columns(), estimator: chat.estimator }));
  }
  const tokens = `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`;
  const words = `compacted: ${messagesBefore} → ${messagesAfter} messages, ${tokens} (${strategy})`;
  chat.say(host.style('green', words));
}

function sayNothingDone(chat: Chat, outcome: Outcome): void {
  if (outcome.status === 'compacted') return;
  const style = outcome.status === 'failed' ? 'red' : 'dim';
  chat.say(chat.host.style(style, `not compacted: ${outcome.message}`));
}
