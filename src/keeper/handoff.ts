import { lastingCuts } from '../conversation/cuts.ts';
import type { Conversation } from '../conversation/format.ts';
import { beginsWith, createChains } from '../conversation/identity.ts';
import type { Message } from '../conversation/message.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import { recogniseFormat } from '../formats/registry.ts';
import type { Checkpoint } from '../stores/store.ts';
import { findModel } from '../tokens/catalog.ts';
import { projectView } from './views.ts';

/** What a store alone knows of a conversation. */
export interface StoredMemory {
  readonly checkpoint: Checkpoint;
  /** The message that holds the memory, in the wire format of the conversation. */
  readonly message: Message;
}

/**
 * The newest memory of a conversation; undefined where there is none, since checkpoints that only shorten results have no
 * memory, and no store holds the messages that were sent as they are.
 */
export function storedMemory(checkpoints: readonly Checkpoint[]): StoredMemory | undefined {
  for (const checkpoint of checkpoints.toSorted((left, right) => right.createdAt - left.createdAt)) {
    const made = checkpoint.parts.flatMap((part) => ('raw' in part ? [part.raw] : []));
    const message = made
      .map(readMade)
      .find((each) => each !== undefined && readSummaryMessage(each) !== undefined);
    if (message !== undefined) return { checkpoint, message };
  }
  return undefined;
}

/** A message that was made, in whichever format it is. */
function readMade(raw: unknown): Message | undefined {
  return recogniseFormat([raw])?.readMessage(raw);
}

/** A conversation with the memory of a checkpoint in it. */
export interface HandedOver {
  readonly checkpoint: Checkpoint;
  readonly view: Conversation;
}

/**
 * What was sent instead of a conversation: the memory of the longest checkpoint that is true of it, and everything behind.
 * Undefined when none is: the messages are others, or are written another way.
 */
export function handOver(
  conversation: Conversation,
  checkpoints: readonly Checkpoint[],
): HandedOver | undefined {
  const chain = createChains().chainOf(conversation);
  const cuts = new Set(lastingCuts(conversation.messages, chain.head));
  const checkpoint = checkpoints
    .filter((each) => each.boundary > 0 && cuts.has(each.boundary) && beginsWith(chain, each))
    .toSorted((left, right) => left.boundary - right.boundary)
    .at(-1);
  if (checkpoint === undefined) return undefined;
  // Nobody knows where this memory was sent first, so all reasoning is taken for what was thought before it.
  const isBound = findModel(conversation.frame.model ?? '')?.bindsReasoning === true;
  const boundBefore = isBound ? chain.length : undefined;
  return { checkpoint, view: projectView(conversation, checkpoint, { head: chain.head, boundBefore }) };
}
