/** Brings a conversation down to a share of its tokens by the path that users take. */
import { createCompactor } from '../../src/compaction/compactor.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';
import type { Message } from '../../src/conversation/message.ts';
import { readConversation } from '../../src/formats/registry.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { tokenProfileForModel } from '../../src/tokens/profiles.ts';

/** A compacted conversation. */
export interface Compacted {
  readonly messages: readonly Message[];
  /** By the real tokenizer. */
  readonly tokens: number;
}

/** How sizes are found. */
export interface CompactOptions {
  readonly countMessages: CountMessages;
  /** Whether the budget is searched for even where the first result is far above it. */
  readonly isStrict: boolean;
}

/** A result of so much of the budget is near enough. */
const LEAST = 0.94;
/** What is aimed at. */
const MIDDLE = (1 + LEAST) / 2;
const ATTEMPTS = 6;
/** A first result that exceeds the budget by so much does so because the current turn fills it. */
const CROWDED = 0.08;

/** What a compactor that knows no model counts with. */
const estimator = createTokenEstimator({ profile: tokenProfileForModel(undefined) });

/**
 * Compacts a conversation to at most so many tokens. Targets are estimates, so the target is searched for; the largest
 * result within the budget is given, or the smallest there is where none is.
 */
export async function compactTo(
  conversation: Conversation,
  budgetTokens: number,
  { countMessages, isStrict }: CompactOptions,
): Promise<Compacted> {
  const scale = estimator.countMessages(conversation.messages) / countMessages(conversation.messages);
  let best: Compacted | undefined;
  let last: Compacted | undefined;
  let [low, high] = [0, Number.POSITIVE_INFINITY];
  let wanted = budgetTokens * scale * MIDDLE;
  for (let attempt = 0; attempt < ATTEMPTS && high - low >= 2; attempt++) {
    const found = await compactOnce(conversation, wanted, countMessages);
    best = better(best, found, budgetTokens);
    const share = found.tokens / budgetTokens;
    if (share <= 1 && share >= LEAST) break;
    // What stays in any case leaves no room for a memory of the usual share: asking for less would only take from that.
    if (!isStrict && attempt === 0 && share > 1 + CROWDED) break;
    if (share > 1) high = Math.min(high, wanted);
    else low = Math.max(low, wanted);
    const next = (wanted * MIDDLE) / share;
    // Where the last step changed nothing, a larger one is needed.
    const isStuck = found.tokens === last?.tokens || next <= low || next >= high;
    wanted = isStuck ? (low + Math.min(high, 2 * wanted)) / 2 : next;
    last = found;
  }
  if (best === undefined) throw new Error('no attempt was made');
  return best;
}

function better(known: Compacted | undefined, found: Compacted, budgetTokens: number): Compacted {
  if (known === undefined) return found;
  const isKnownWithin = known.tokens <= budgetTokens;
  const isFoundWithin = found.tokens <= budgetTokens;
  if (isKnownWithin !== isFoundWithin) return isFoundWithin ? found : known;
  return isFoundWithin === found.tokens > known.tokens ? found : known;
}

/** One automatic run: the window is half full, and only the trigger calls for it. */
async function compactOnce(
  conversation: Conversation,
  messageTokens: number,
  countMessages: CountMessages,
): Promise<Compacted> {
  const size = Math.ceil(requestTokens(conversation, estimator));
  const frame = size - estimator.countMessages(conversation.messages);
  const target = Math.max(2, Math.floor(frame + messageTokens));
  const compactor = createCompactor({
    format: conversation.format.name,
    windowTokens: size * 2,
    trigger: Math.min(target + 1, size),
    target: Math.min(target, size - 1),
  });
  const { value } = await compactor.maybeCompact(writeConversation(conversation));
  const { messages } = readConversation(value, conversation.format.name);
  return { messages, tokens: countMessages(messages) };
}
