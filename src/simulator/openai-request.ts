import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Asked } from './provider.ts';
import type { OfferedTool } from './script.ts';

/** Reads `tool_choice` and `parallel_tool_calls`: the same words in Chat and Responses, one name nested deeper. */
export function readToolChoice(body: JsonObject, offered: readonly OfferedTool[]): Omit<Asked, 'thinks'> {
  const choice = body['tool_choice'];
  const wanted = nameOf(choice);
  return {
    tools: choice === 'none' ? [] : offered.filter(({ name }) => wanted === undefined || name === wanted),
    toolChoice: choice === 'required' || wanted !== undefined ? 'forced' : 'free',
    mayCallInParallel: body['parallel_tool_calls'] !== false,
  };
}

function nameOf(choice: unknown): string | undefined {
  if (!isObject(choice)) return undefined;
  return asString(isObject(choice['function']) ? choice['function']['name'] : choice['name']);
}

const reasoningModels = /^(?:ft:)?(?:o\d|gpt-[5-9](?!.{0,20}chat))/;

/** Whether the model thinks before it answers: reasoning models do unless the effort is `none`. */
export function reasons(body: JsonObject, effort: unknown): boolean {
  return reasoningModels.test((asString(body['model']) ?? '').slice(0, 200)) && effort !== 'none';
}
