/** Compacts a chat, before a request or by hand, and says what came of it. */

import { changeOf, notCompacted, type Outcome } from '../compaction/plan/strategy.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import type { Conversation } from '../conversation/format.ts';
import { preview } from '../report/preview.ts';
import { formatCount } from '../report/terminal.ts';
import type { Chat } from './chat.ts';
import type { RunByHand } from './chat-compactor.ts';

/** Compacts when it is due, or when it pays, and says so. Called before each request, never inside one. */
export async function compactIfDue(chat: Chat, signal: AbortSignal): Promise<void> {
  const { compactor, dialogue, idleSeconds } = chat;
  const before = dialogue.read();
  const { usage } = chat.tokens();
  const ran = await compactor.runIfDue(dialogue.body, { usage, idleSeconds, signal });
  const outcome = await takeOver(chat, before, ran);
  const isNews = outcome.status === 'failed' || outcome.status === 'insufficient';
  if (isNews && !signal.aborted) sayWhatIsMissing(chat, outcome);
}

/** Compacts now and says what came of it. */
export async function compactNow(chat: Chat, byHand: RunByHand, signal: AbortSignal): Promise<Outcome> {
  const { compactor, dialogue } = chat;
  const before = dialogue.read();
  const ran = await compactor.run(dialogue.body, byHand, { usage: chat.tokens().usage, signal });
  const outcome = await takeOver(chat, before, ran);
  sayWhatIsMissing(chat, outcome);
  return outcome;
}

/** Goes on from what a run made. Gives what came of it in the end. */
async function takeOver(chat: Chat, before: Conversation, outcome: Outcome): Promise<Outcome> {
  chat.paidForSummary(outcome.usage);
  const change = changeOf(outcome);
  if (change === undefined) return outcome;
  const { archive, host } = chat.options;
  try {
    // Kept before it leaves: a store that fails costs the compaction, not the messages and not the turn.
    await archive?.keep(before.messages, change, host.now());
  } catch (error) {
    const why = RoundfoldError.is(error) ? error.message : 'the store failed';
    return notCompacted('failed', 'not-kept', `what would leave cannot be kept: ${why}`, outcome.usage);
  }
  chat.dialogue.accept(change);
  chat.changed();
  const { strategy, messagesBefore, messagesAfter, tokensBefore, tokensAfter } = change.receipt;
  if (chat.isVerbose) {
    chat.say(host.style('bold', `before (${messagesBefore}) and after (${messagesAfter})`));
    host.out(preview(before, change, { columns: host.columns(), estimator: chat.estimator }));
  }
  const tokens = `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`;
  const words = `compacted: ${messagesBefore} → ${messagesAfter} messages, ${tokens} (${strategy})`;
  chat.say(host.style('green', words));
  return outcome;
}

function sayWhatIsMissing(chat: Chat, outcome: Outcome): void {
  if (outcome.status === 'compacted') return;
  const style = outcome.status === 'failed' ? 'red' : 'dim';
  const words = outcome.best === undefined ? 'not compacted' : 'not as small as it should be';
  chat.say(chat.host.style(style, `${words}: ${outcome.message}`));
}
