import { isObject } from '../../conversation/json.ts';
import type { Block, Message } from '../../conversation/message.ts';
import { PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import { modelHabits } from './anthropic-models.ts';
import type { MendContext } from './mender.ts';

/** What asks a model to go on that refuses to continue its own words. */
const CONTINUE_TEXT = '[continue]';

/** A user message in front, unless a summary of the provider's opens the list. */
export function startWithUser(
  messages: readonly Message[],
  { format, log }: MendContext,
): readonly Message[] {
  const [first] = messages;
  if (first?.role !== 'assistant' || first.blocks[0]?.type === 'compaction') return messages;
  log.add('list that begins with an answer', 'given a user message in front');
  return [...format.userMessages([format.textBlock(PLACEHOLDER_TEXT)]), ...messages];
}

/** A request ends with the user, or with words of the model's that it may continue; these do not end in blanks. */
export function endAsAllowed(messages: readonly Message[], context: MendContext): readonly Message[] {
  const { format, frame, model, isRequest, log } = context;
  const last = messages.at(-1);
  const asksForSummary = isObject(frame.body) && (frame.body['compaction'] ?? null) !== null;
  if (!isRequest || last?.role !== 'assistant' || asksForSummary || last.blocks.some(goesOn)) return messages;
  if (!modelHabits(model).takesPrefill) {
    log.add('request that ends with an answer', 'given a user message behind it');
    return [...messages, ...format.userMessages([format.textBlock(CONTINUE_TEXT)])];
  }
  const final = last.blocks.at(-1);
  if (final?.type !== 'text' || final.text === final.text.trimEnd()) return messages;
  log.add('blank at the end of the last answer', 'removed');
  const text = final.text.trimEnd();
  const trimmed: Block = { type: 'text', text, raw: isObject(final.raw) ? { ...final.raw, text } : text };
  return messages.with(-1, format.withBlocks(last, last.blocks.with(-1, trimmed)));
}

/** A turn that the provider has not finished is resumed and no prefill. */
function goesOn(block: Block): boolean {
  if (block.type === 'compaction' || block.type === 'tool-call') return true;
  if (block.type === 'tool-result') return block.runBy === 'server';
  return block.type === 'other' && block.wireType === 'fallback';
}
