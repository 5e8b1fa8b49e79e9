import type { Format } from './format.ts';
import type { Block, Message } from './message.ts';
import { type BlockPosition, linkTools } from './tool-links.ts';

/**
 * Takes out what no provider accepts in any place: a second call under one id, a server tool's call or result without
 * its other half, a client's call or result in the wrong role, blank text where it is refused.
 */
export function dropImpossibleBlocks(messages: readonly Message[], format: Format): readonly Message[] {
  const withoutRepeats = dropRepeatedCalls(messages, format);
  const lonely = findLonelyServerBlocks(withoutRepeats);
  return withoutRepeats.map((message, index) =>
    keepBlocks(message, format, (block, position) => {
      if (lonely.has(key({ message: index, block: position }))) return false;
      if (format.refusesBlankText && block.type === 'text' && block.text.trim() === '') return false;
      return isInItsRole(block, message);
    }),
  );
}

/** The message without the blocks that `isKept` refuses; the very same one when it keeps all. */
function keepBlocks(
  message: Message,
  format: Format,
  isKept: (block: Block, position: number) => boolean,
): Message {
  const blocks = message.blocks.filter(isKept);
  if (blocks.length === message.blocks.length) return message;
  return format.withBlocks(message, blocks);
}

function isInItsRole(block: Block, message: Message): boolean {
  if (block.type === 'tool-call') return message.role === 'assistant';
  if (block.type === 'tool-result') return (message.role === 'assistant') === (block.runBy === 'server');
  return true;
}

function dropRepeatedCalls(messages: readonly Message[], format: Format): readonly Message[] {
  const taken = new Set<string>();
  const isFreedByResult = format.tools.callIdsUniqueAmong === 'open-calls';
  return messages.map((message) =>
    keepBlocks(message, format, (block) => {
      if (block.type === 'tool-result' && block.callId !== undefined && isFreedByResult)
        taken.delete(block.callId);
      if (block.type !== 'tool-call' || block.id === undefined) return true;
      if (taken.has(block.id)) return false;
      taken.add(block.id);
      return true;
    }),
  );
}

/** Server calls without result, except those of a turn that may still be running, and results without call. */
function findLonelyServerBlocks(messages: readonly Message[]): ReadonlySet<string> {
  const links = linkTools(messages);
  const running = runningTurn(messages);
  const isServers = ({ message, block }: BlockPosition) => {
    const found = messages[message]?.blocks[block];
    return (found?.type === 'tool-call' || found?.type === 'tool-result') && found.runBy === 'server';
  };
  return new Set([
    ...links.unanswered.filter((position) => isServers(position) && position.message !== running).map(key),
    ...links.orphans.filter(isServers).map(key),
  ]);
}

/** The last answer, when nothing but results of its calls follows: the provider goes on with it. */
function runningTurn(messages: readonly Message[]): number | undefined {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const rest = messages.slice(last + 1).flatMap((message) => message.blocks);
  return rest.every((block) => block.type === 'tool-result') ? last : undefined;
}

function key({ message, block }: BlockPosition): string {
  return `${message}.${block}`;
}
