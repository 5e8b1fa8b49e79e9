import type { Violation } from '../contract.ts';
import { isGiven, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { checkKind, checkRequired } from './kinds.ts';
import type { Check, Request } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

// 64 by the documentation, 128 in an error that was seen: only what breaks both is a fault.
const toolName = /^[a-zA-Z0-9_-]{1,128}$/;

/** Tool definitions, and what needs them. */
export const checkTools: Check = (request) => {
  const { body } = request;
  if (isGiven(read(body, 'tools')) && !Array.isArray(read(body, 'tools'))) return [];
  const tools = readList(body, 'tools');
  return [
    ...tools.flatMap((tool, index) => checkTool(tool, index)),
    ...checkNamesUnique(tools),
    ...checkLoaded(tools),
    ...(tools.length === 0 ? checkToolless(request) : []),
  ];
};

function checkTool(tool: unknown, index: number): readonly Violation[] {
  const path = `tools.${index}`;
  if (!isObject(tool)) return checkKind(tool, 'object', path);
  // Tools of other types are the provider's own and come with their schema.
  const isCustom = !isGiven(read(tool, 'type')) || read(tool, 'type') === 'custom';
  return isCustom ? checkCustomTool(tool, `${path}.custom`) : [];
}

function checkCustomTool(tool: JsonObject, path: string): Violation[] {
  const name = readText(tool, 'name');
  const schema = read(tool, 'input_schema');
  return [
    ...checkRequired(tool, 'name', 'string', `${path}.name`),
    ...checkRequired(tool, 'input_schema', 'object', `${path}.input_schema`),
    ...(name !== undefined && !toolName.test(name) ? [report(rules.malformedToolName, `${path}.name`)] : []),
    ...(read(tool, 'strict') === true && hasOpenObject(schema)
      ? [report(rules.openObjectInStrictSchema, path)]
      : []),
  ];
}

/** Keywords of a JSON schema that hold a schema or a list of them, and those that hold schemas by name. */
const listKeywords = ['items', 'prefixItems', 'anyOf', 'allOf', 'oneOf'];
const nameKeywords = ['properties', '$defs', 'definitions'];

function hasOpenObject(schema: unknown): boolean {
  const pending = isObject(schema) ? [schema] : [];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    if (read(current, 'type') === 'object' && read(current, 'additionalProperties') !== false) return true;
    for (const child of innerSchemas(current)) pending.push(child);
  }
  return false;
}

function innerSchemas(schema: JsonObject): JsonObject[] {
  const listed = listKeywords.flatMap((keyword) => read(schema, keyword));
  const named = nameKeywords.map((keyword) => read(schema, keyword)).filter(isObject);
  return [...listed, ...named.flatMap((below) => Object.values(below))].filter(isObject);
}

function checkNamesUnique(tools: readonly unknown[]): Violation[] {
  const names = tools.map((tool) => readText(tool, 'name')).filter((name) => name !== undefined);
  return new Set(names).size < names.length ? [report(rules.duplicateToolName, 'tools')] : [];
}

function checkLoaded(tools: readonly unknown[]): Violation[] {
  const isAllDeferred = tools.length > 0 && tools.every((tool) => read(tool, 'defer_loading') === true);
  return isAllDeferred ? [report(rules.allToolsDeferred, 'tools')] : [];
}

function checkToolless({ body, messages }: Request): Violation[] {
  const types = new Set(messages.flatMap(({ blocks }) => blocks.map(({ type }) => type)));
  // A thread keeps its tools on the server, and a system message can bring tools along.
  const hasOtherSource = isGiven(read(body, 'thread')) || types.has('tool_addition');
  const needsTools = (types.has('tool_use') || types.has('tool_result')) && !hasOtherSource;
  return [
    ...(needsTools ? [report(rules.missingToolDefinitions, 'tools')] : []),
    ...(isGiven(read(body, 'tool_choice')) && !hasOtherSource
      ? [report(rules.toolChoiceWithoutTools, 'tool_choice')]
      : []),
  ];
}
