import type { Block, Message } from '../../core/message.ts';
import type { MendContext } from './mender.ts';
import { LEFT_OUT } from './raw-message.ts';

/** Tools of the provider's that another tool definition offers. */
const OFFERED_BY: ReadonlyMap<string, string> = new Map([
  ['bash_code_execution', 'code_execution'],
  ['text_editor_code_execution', 'code_execution'],
]);

/** Tools of the provider's of which a call may wait for its result only while they are offered. */
const KNOWN_TOOLS: ReadonlySet<string> = new Set([
  'web_search',
  'web_fetch',
  'advisor',
  'code_execution',
  'bash_code_execution',
  'text_editor_code_execution',
  'tool_search_tool_bm25',
  'tool_search_tool_regex',
]);

/**
 * Takes out what is left of a provider's own tool when its other half is missing. A call may wait for its result as long as
 * the user sends nothing but tool results.
 */
export function dropBrokenServerTools(messages: readonly Message[], context: MendContext): readonly Message[] {
  const broken = findBroken(messages, context);
  if (broken.size === 0) return messages;
  const { format, log } = context;
  log.add("call or result of a provider's own tool without its other half", LEFT_OUT, broken.size);
  return messages.flatMap((message) => {
    const blocks = message.blocks.filter((block) => !broken.has(block));
    if (blocks.length === message.blocks.length) return [message];
    return blocks.length === 0 ? [] : [format.withBlocks(message, blocks)];
  });
}

function findBroken(messages: readonly Message[], { frame, isRequest }: MendContext): ReadonlySet<Block> {
  const broken = new Set<Block>();
  const open = new Map<string, Block & { readonly type: 'tool-call' }>();
  for (const { role, blocks } of messages) {
    if (role === 'user' && blocks.some(({ type }) => type !== 'tool-result')) {
      for (const call of open.values()) broken.add(call);
      open.clear();
    }
    if (role !== 'assistant') continue;
    for (const block of blocks) {
      if (block.type === 'tool-call' && block.runBy === 'server') {
        const before = open.get(block.id ?? '');
        if (before !== undefined) broken.add(before);
        open.set(block.id ?? '', block);
      }
      if (block.type === 'tool-result' && block.runBy === 'server' && !open.delete(block.callId ?? '')) {
        broken.add(block);
      }
    }
  }
  if (!isRequest) return broken;
  const offered = new Set(frame.tools.map(({ name }) => name));
  for (const call of open.values()) {
    if (KNOWN_TOOLS.has(call.name) && !offered.has(OFFERED_BY.get(call.name) ?? call.name)) broken.add(call);
  }
  return broken;
}
