import type { Violation } from '../contract.ts';
import { readList, readText } from '../json-value.ts';
import type { Block, Check, Message, Request } from './request.ts';
import { rules } from './rules.ts';
import type { UnresolvedCall } from './rules-turns.ts';
import { report } from './worded-rule.ts';

interface ServerTool {
  readonly resultType: string;
  /** Name of the tool definition that offers it. */
  readonly offeredBy: string;
}

/** What answers a server tool call. Names that are not listed are answered by `<name>_tool_result`. */
const serverTools: ReadonlyMap<string, ServerTool> = new Map([
  tool('web_search'),
  tool('web_fetch'),
  tool('advisor'),
  tool('code_execution'),
  tool('bash_code_execution', { offeredBy: 'code_execution' }),
  tool('text_editor_code_execution', { offeredBy: 'code_execution' }),
  tool('tool_search_tool_bm25', { resultType: 'tool_search_tool_result' }),
  tool('tool_search_tool_regex', { resultType: 'tool_search_tool_result' }),
]);

function tool(name: string, odd: Partial<ServerTool> = {}): readonly [string, ServerTool] {
  return [name, { resultType: `${name}_tool_result`, offeredBy: name, ...odd }];
}

/** The type of call behind each type of result. */
const callOfResult: ReadonlyMap<string, string> = new Map([
  ...[...serverTools.values()].map(({ resultType }) => [resultType, 'server_tool_use'] as const),
  ['mcp_tool_result', 'mcp_tool_use'],
]);
const callTypes: ReadonlySet<string> = new Set(callOfResult.values());

/** Whether a block is the result of a tool that runs at the provider. */
export function isServerResult(type: string): boolean {
  return callOfResult.has(type);
}

/** Whether a block belongs to a tool that runs at the provider. */
export function isServerBlock(type: string): boolean {
  return callTypes.has(type) || isServerResult(type);
}

/** Calls of server tools and their results, which may come in a later response of the same turn. */
export const checkServerTools: Check = (request) => {
  const seen = new Set<string>();
  const open = new Map<string, Block>();
  return [
    ...request.messages.flatMap((message) => {
      if (message.role === 'assistant') return followAssistant(message, seen, open);
      return message.role === 'user' ? endTurn(message, open) : [];
    }),
    ...checkStillOffered([...open.values()], request),
  ];
};

function followAssistant({ blocks }: Message, seen: Set<string>, open: Map<string, Block>): Violation[] {
  return blocks.flatMap((block) => {
    if (callTypes.has(block.type)) {
      const id = readText(block.value, 'id');
      if (id !== undefined) {
        seen.add(id);
        open.set(id, block);
      }
      return [];
    }
    const callType = callOfResult.get(block.type);
    const id = callType === undefined ? undefined : readText(block.value, 'tool_use_id');
    if (callType === undefined || id === undefined) return [];
    open.delete(id);
    return seen.has(id)
      ? []
      : [report(rules.serverToolResultWithoutCall, block.path, block.type, id, callType)];
  });
}

/** A user message with nothing but tool results lets the turn go on; anything else ends it. */
function endTurn({ blocks }: Message, open: Map<string, Block>): Violation[] {
  const results = blocks.filter(({ type }) => type === 'tool_result').length;
  if (results > 0 && results === blocks.length) return [];
  const rule = results > 0 ? rules.serverToolTurnInterrupted : rules.serverToolCallWithoutResult;
  const violations = [...open.values()].map((block) => report(rule, block.path, describe(block, false)));
  open.clear();
  return violations;
}

/** A turn that waits at the end of the list is resumed, which needs the tool to be there. */
function checkStillOffered(open: readonly Block[], { body, isWhole }: Request): Violation[] {
  if (!isWhole) return [];
  const offered = new Set(readList(body, 'tools').map((definition) => readText(definition, 'name')));
  return open.flatMap((block) => {
    const server = serverTools.get(readText(block.value, 'name') ?? '');
    const isGone = block.type === 'server_tool_use' && server !== undefined && !offered.has(server.offeredBy);
    return isGone ? [report(rules.serverToolCallWithoutResult, block.path, describe(block, true))] : [];
  });
}

function describe({ type, value }: Block, isToolMissing: boolean): UnresolvedCall {
  const name = readText(value, 'name') ?? '';
  const known = type === 'mcp_tool_use' ? 'mcp_tool_result' : serverTools.get(name)?.resultType;
  return {
    id: readText(value, 'id') ?? '',
    name,
    resultType: known ?? `${name}_tool_result`,
    isToolMissing,
  };
}
