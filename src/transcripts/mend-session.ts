import type { CheckContext, Violation } from '../contracts/contract.ts';
import { findContract } from '../contracts/registry.ts';
import { type Conversation, withMessages, writeConversation } from '../conversation/format.ts';
import type { Block, Message } from '../conversation/message.ts';
import { ChangeLog, type ConversionChange } from '../formats/change-log.ts';
import { mendConversation } from '../formats/mend/mend.ts';

/** A conversation that a provider takes, and what had to be done for it. */
export interface MendedSession {
  readonly conversation: Conversation;
  readonly repairs: readonly ConversionChange[];
  /** Rules that it breaks all the same; empty when it is legal. */
  readonly violations: readonly Violation[];
}

/**
 * Mends whatever keeps an agent from going on: open calls, results without a call, ids that occur twice, blank and misplaced
 * messages, pictures that are too large or too many. What is legal stays the very same value.
 */
export function mendSession(conversation: Conversation, context: CheckContext): MendedSession {
  const mended = mendConversation(conversation, { model: context.model });
  const log = new ChangeLog();
  for (const { what, became, count } of mended.repairs) log.add(what, became, count);
  const left = withoutRefusedImages(mended.conversation, context, log);
  return { conversation: left, repairs: log.list(), violations: errorsOf(left, context) };
}

/** What a provider would refuse the conversation for. */
export function errorsOf(conversation: Conversation, context: CheckContext): readonly Violation[] {
  const contract = findContract(conversation.format.name);
  const violations = contract?.check(writeConversation(conversation), context) ?? [];
  return violations.filter(({ severity }) => severity === 'error');
}

/** Where a picture stands: in a message, or in a result of it. */
interface ImagePlace {
  /** As the contract names it. */
  readonly path: string;
  readonly message: number;
  readonly block: number;
  /** Index in the content of a result; undefined for a picture in the message itself. */
  readonly inner: number | undefined;
}

const IMAGE_RULE = 'images-over-limit';
const IMAGE_NOTE = '[image left out: the provider refuses it for its size]';

function withoutRefusedImages(
  conversation: Conversation,
  context: CheckContext,
  log: ChangeLog,
): Conversation {
  const refused = errorsOf(conversation, context).filter(({ rule }) => rule === IMAGE_RULE);
  if (refused.length === 0) return conversation;
  const images = imagesIn(conversation.messages);
  const chosen = new Set(refused.flatMap(({ path }) => refusedImages(path, images)));
  const messages = [...conversation.messages];
  for (const place of chosen) {
    const message = messages[place.message];
    if (message !== undefined) messages[place.message] = withNote(message, place, conversation);
  }
  log.add('image that the provider refuses for its size', 'replaced by a note', chosen.size);
  return withMessages(conversation, messages);
}

/** The pictures that a violation is about. Where there are too many, it names the first that is one too many. */
function refusedImages(path: string, images: readonly ImagePlace[]): readonly ImagePlace[] {
  const allowed = images.findIndex((image) => image.path === path);
  // The newest pictures are those that are still spoken of.
  if (allowed !== -1) return images.slice(0, images.length - allowed);
  return images.filter((image) => path.startsWith(`${image.path}.`));
}

function imagesIn(messages: readonly Message[]): readonly ImagePlace[] {
  return messages.flatMap(({ blocks }, message) =>
    blocks.flatMap((each, block): readonly ImagePlace[] => {
      const path = `messages.${message}.content.${block}`;
      if (isImage(each)) return [{ path, message, block, inner: undefined }];
      if (each.type !== 'tool-result') return [];
      return each.content.flatMap((part, inner) =>
        isImage(part) ? [{ path: `${path}.tool_result.content.${inner}`, message, block, inner }] : [],
      );
    }),
  );
}

function isImage(block: Block): boolean {
  return block.type === 'media' && block.media === 'image';
}

function withNote(message: Message, { block, inner }: ImagePlace, { format }: Conversation): Message {
  const note = format.textBlock(IMAGE_NOTE);
  const found = message.blocks[block];
  const changed =
    inner !== undefined && found?.type === 'tool-result'
      ? format.withResultContent(found, found.content.with(inner, note))
      : note;
  return format.withBlocks(message, message.blocks.with(block, changed));
}
