import type { JsonObject } from '../../conversation/json.ts';
import { inputText } from '../openai.ts';
import type { ReplyPart } from '../reply.ts';
import type { OfferedTool } from '../script.ts';
import type { IdSource } from '../seeded.ts';

type CallPart = ReplyPart & { readonly type: 'tool-call' };

interface CallIds {
  /** An id of an item, with this prefix. */
  readonly idFor: (prefix: string) => string;
  readonly ids: IdSource;
}

/** A tool, and the namespace that it was offered in. */
export interface NamedTool extends OfferedTool {
  readonly namespace?: string | undefined;
}

/** A call as an item, in the shape that its tool wants. A tool that the request does not offer is called as a function. */
export function writeCall(
  { name, input }: CallPart,
  tools: readonly NamedTool[],
  { idFor, ids }: CallIds,
): JsonObject {
  const status = 'completed';
  const { kind = 'function', namespace } = tools.find((tool) => tool.name === name) ?? {};
  const named = { name, ...(namespace === undefined ? {} : { namespace }) };
  switch (kind) {
    case 'function': {
      const call = { call_id: ids('call_'), ...named, arguments: JSON.stringify(input) };
      return { id: idFor('fc'), type: 'function_call', status, ...call };
    }
    case 'custom': {
      const call = { call_id: ids('call_'), ...named, input: inputText(input) };
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
