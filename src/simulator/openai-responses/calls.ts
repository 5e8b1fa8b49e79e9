import type { JsonObject } from '../../conversation/json.ts';
import { inputText } from '../openai.ts';
import type { ReplyPart } from '../reply.ts';
import type { OfferedTool, ToolKind } from '../script.ts';
import type { IdSource } from '../seeded.ts';

type CallPart = ReplyPart & { readonly type: 'tool-call' };

interface CallIds {
  /** An id of an item, with this prefix. */
  readonly idFor: (prefix: string) => string;
  readonly ids: IdSource;
}

/** The kind of the tool with a name; one that the request does not offer is called as a function. */
export function kindOfTool(tools: readonly OfferedTool[], name: string): ToolKind {
  return tools.find((tool) => tool.name === name)?.kind ?? 'function';
}

/** A call as an item, in the shape that its tool wants. */
export function writeCall({ name, input }: CallPart, kind: ToolKind, { idFor, ids }: CallIds): JsonObject {
  const status = 'completed';
  switch (kind) {
    case 'function': {
      const call = { call_id: ids('call_'), name, arguments: JSON.stringify(input) };
      return { id: idFor('fc'), type: 'function_call', status, ...call };
    }
    case 'custom': {
      const call = { call_id: ids('call_'), name, input: inputText(input) };
      return { id: idFor('ctc'), type: 'custom_tool_call', status, ...call };
    }
    case 'tool-search': {
      const call = { call_id: ids('call_'), execution: 'client', arguments: input };
      return { id: idFor('tsc'), type: 'tool_search_call', status, ...call };
    }
    case 'web-search':
      return { id: idFor('ws'), type: 'web_search_call', status, action: { type: 'search', ...input } };
  }
}
