import { isObject, type JsonObject } from '../../conversation/json.ts';
import { callArguments, type ToolCallBlock } from '../../conversation/message.ts';
import { listFiles } from './list.ts';
import { readTextFile } from './read.ts';
import { searchFiles } from './search.ts';
import type { ChatTool } from './tool.ts';
import { ToolRefusal } from './tool-refusal.ts';
import type { Workspace } from './workspace.ts';

/** Every tool that the model is offered. */
export const chatTools: readonly ChatTool[] = [listFiles, readTextFile, searchFiles];

/** What a tool takes, as a JSON schema. */
export function schemaOf({ parameters, required }: ChatTool): JsonObject {
  const properties = Object.entries(parameters).map(([name, description]) => [
    name,
    { type: 'string', description },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** Runs a call. Whatever goes wrong is an answer for the model. */
export async function runTool(call: ToolCallBlock, workspace: Workspace): Promise<ToolAnswer> {
  const tool = chatTools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const known = chatTools.map(({ name }) => name).join(', ');
    return { text: `there is no such tool; there are ${known}`, isError: true };
  }
  const input = callArguments(call);
  if (!isObject(input)) return { text: 'the arguments are no JSON object', isError: true };
  try {
    return { text: await tool.run(input, workspace), isError: false };
  } catch (error) {
    const text = error instanceof ToolRefusal ? error.message : 'the tool failed';
    return { text, isError: true };
  }
}
