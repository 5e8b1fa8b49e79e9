import type { Block, Message, ToolCallBlock } from '../../conversation/message.ts';
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
export function dropBrokenServerTools(
  messages: readonly Message[],
  context: MendContext,
): readonly Message[] {
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
  const halves = new ServerToolHalves();
  for (const { role, blocks } of messages) {
    if (role === 'assistant') for (const block of blocks) halves.add(block);
    else if (role === 'user' && blocks.some(({ type }) => type !== 'tool-result')) halves.endTurn();
  }
  if (isRequest) halves.endUnoffered(new Set(frame.tools.map(({ name }) => name)));
  return halves.broken;
}

class ServerToolHalves {
  readonly broken = new Set<Block>();
  private readonly open = new Map<string | undefined, ToolCallBlock>();

  add(block: Block): void {
    if (block.type === 'tool-call' && block.runBy === 'server') {
      const before = this.open.get(block.id);
      if (before !== undefined) this.broken.add(before);
      this.open.set(block.id, block);
    } else if (block.type === 'tool-result' && block.runBy === 'server') {
      if (!this.open.delete(block.callId)) this.broken.add(block);
    }
  }

  endTurn(): void {
    for (const call of this.open.values()) this.broken.add(call);
    this.open.clear();
  }

  /** A call can only be resumed while its tool is offered. */
  endUnoffered(offered: ReadonlySet<string>): void {
    for (const call of this.open.values()) {
      const isGone = KNOWN_TOOLS.has(call.name) && !offered.has(OFFERED_BY.get(call.name) ?? call.name);
      if (isGone) this.broken.add(call);
    }
  }
}
