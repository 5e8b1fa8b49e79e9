import type { Violation } from '../contract.ts';
import { asList, isGiven, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import type { Block, Message, Request } from './request.ts';
import { checkKind, checkRequired } from './values.ts';

const rules = defineRules({
  'missing-tool-definitions': {
    alias: 'A22',
    title: 'tool blocks need tool definitions',
    fix: 'Keep at least one tool definition while tool blocks remain in the messages.',
    evidence: 'reported',
    wording: () => 'Requests which include `tool_use` or `tool_result` blocks must define tools.',
  },
  'duplicate-tool-name': {
    alias: 'A26',
    title: 'tool names are unique',
    fix: 'Give every tool its own name.',
    evidence: 'reported',
    wording: () => 'tools: Tool names must be unique.',
  },
  'malformed-tool-name': {
    alias: 'A27',
    title: 'tool names have a pattern',
    fix: 'Use 1 to 64 letters, digits, underscores or hyphens.',
    evidence: 'reported',
    wording: (path: string) => `${path}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
  },
  'tool-choice-without-tools': {
    alias: 'A28',
    title: 'a tool choice needs tools',
    fix: 'Remove `tool_choice`, or send the tools with it.',
    evidence: 'reported',
    wording: () => 'tool_choice may only be specified while providing tools.',
  },
  'all-tools-deferred': {
    alias: 'A30',
    title: 'at least one tool is loaded at once',
    fix: 'Leave `defer_loading` off for at least one tool.',
    evidence: 'documented',
    wording: () => 'All tools have defer_loading: true',
  },
  'open-object-in-strict-schema': {
    alias: 'A31',
    title: 'strict schemas have closed objects',
    fix: 'Set `additionalProperties: false` on every object of a strict schema.',
    evidence: 'reported',
    wording: (path: string) =>
      `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
  },
});

// 64 by the documentation, 128 in an error that was seen: only what breaks both is a fault.
const toolName = /^[a-zA-Z0-9_-]{1,128}$/;

/** Tool definitions, and what needs them. */
export const anthropicTools: RuleGroup<Request> = { rules, check: checkTools };

function checkTools(request: Request): readonly Violation[] {
  const given = read(request.body, 'tools');
  if (!request.isWhole || (isGiven(given) && !Array.isArray(given))) return [];
  const definitions = asList(given);
  return [
    ...definitions.flatMap(checkTool),
    ...checkNamesUnique(definitions),
    ...checkLoaded(definitions),
    ...(definitions.length === 0 ? checkToolless(request) : []),
  ];
}

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
    ...(name !== undefined && !toolName.test(name)
      ? [report(rules['malformed-tool-name'], `${path}.name`)]
      : []),
    ...(read(tool, 'strict') === true && hasOpenObject(schema)
      ? [report(rules['open-object-in-strict-schema'], path)]
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
  return new Set(names).size < names.length ? [report(rules['duplicate-tool-name'], 'tools')] : [];
}

function checkLoaded(tools: readonly unknown[]): Violation[] {
  const isAllDeferred = tools.length > 0 && tools.every((tool) => read(tool, 'defer_loading') === true);
  return isAllDeferred ? [report(rules['all-tools-deferred'], 'tools')] : [];
}

function checkToolless({ body, messages }: Request): Violation[] {
  const types = new Set(messages.flatMap(({ blocks }) => blocks.map(({ type }) => type)));
  // A thread keeps its tools on the server, and a system message can bring tools along.
  const hasOtherSource = isGiven(read(body, 'thread')) || types.has('tool_addition');
  const needsTools = (types.has('tool_use') || types.has('tool_result')) && !hasOtherSource;
  return [
    ...(needsTools ? [report(rules['missing-tool-definitions'], 'tools')] : []),
    ...(isGiven(read(body, 'tool_choice')) && !hasOtherSource
      ? [report(rules['tool-choice-without-tools'], 'tool_choice')]
      : []),
  ];
}

/** A call of a server tool whose result is missing. */
interface UnresolvedCall {
  readonly id: string;
  readonly name: string;
  readonly resultType: string;
  /** The request does not offer the tool any more. */
  readonly isToolMissing: boolean;
}

const unresolved = (_path: string, call: UnresolvedCall) =>
  `\`${call.name}\` tool use with id \`${call.id}\` was found without a corresponding \`${call.resultType}\` block${
    call.isToolMissing ? ` but no \`${call.name}\` tool was provided` : ''
  }`;

const serverRules = defineRules({
  'server-tool-call-without-result': {
    alias: 'A23',
    title: 'every server tool call is resolved',
    fix: 'Keep the server tool’s result, or drop the call with it.',
    evidence: 'documented',
    wording: unresolved,
  },
  'server-tool-result-without-call': {
    alias: 'A24',
    title: 'every server tool result follows its call',
    fix: 'Keep the server tool’s call before its result, or drop both.',
    evidence: 'reported',
    wording: (path: string, type: string, id: string, callType: string) =>
      `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${id}. Each \`${type}\` block must have a corresponding \`${callType}\` block before it.`,
  },
  'server-tool-turn-interrupted': {
    alias: 'A25',
    title: 'a turn that waits for a server tool is resumed with results only',
    fix: 'Send only the tool results while a server tool call is unresolved.',
    evidence: 'documented',
    wording: unresolved,
  },
});

interface ServerTool {
  readonly resultType: string;
  /** Name of the tool definition that offers it. */
  readonly offeredBy: string;
}

/** What answers a server tool call. Names that are not listed are answered by `<name>_tool_result`. */
const knownTools: ReadonlyMap<string, ServerTool> = new Map([
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
  ...[...knownTools.values()].map(({ resultType }) => [resultType, 'server_tool_use'] as const),
  ['mcp_tool_result', 'mcp_tool_use'],
]);
const serverCallTypes: ReadonlySet<string> = new Set(callOfResult.values());

/** Whether a block is the result of a tool that runs at the provider. */
export function isServerResult(type: string): boolean {
  return callOfResult.has(type);
}

/** Whether a block belongs to a tool that runs at the provider. */
export function isServerBlock(type: string): boolean {
  return serverCallTypes.has(type) || isServerResult(type);
}

/** Calls of server tools and their results, which may come in a later response of the same turn. */
export const anthropicServerTools: RuleGroup<Request> = { rules: serverRules, check: checkServerTools };

function checkServerTools(request: Request): readonly Violation[] {
  const seen = new Set<string>();
  const open = new Map<string, Block>();
  return [
    ...request.messages.flatMap((message) => {
      if (message.role === 'assistant') return followAssistant(message, seen, open);
      return message.role === 'user' ? endTurn(message, open) : [];
    }),
    ...checkStillOffered([...open.values()], request),
  ];
}

function followAssistant({ blocks }: Message, seen: Set<string>, open: Map<string, Block>): Violation[] {
  return blocks.flatMap((block) => {
    if (serverCallTypes.has(block.type)) {
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
      : [report(serverRules['server-tool-result-without-call'], block.path, block.type, id, callType)];
  });
}

/** A user message with nothing but tool results lets the turn go on; anything else ends it. */
function endTurn({ blocks }: Message, open: Map<string, Block>): Violation[] {
  const results = blocks.filter(({ type }) => type === 'tool_result').length;
  if (results > 0 && results === blocks.length) return [];
  const rule =
    results > 0
      ? serverRules['server-tool-turn-interrupted']
      : serverRules['server-tool-call-without-result'];
  const violations = [...open.values()].map((block) => report(rule, block.path, describe(block, false)));
  open.clear();
  return violations;
}

/** A turn that waits at the end of the list is resumed, which needs the tool to be there. */
function checkStillOffered(open: readonly Block[], { body, isWhole }: Request): Violation[] {
  if (!isWhole) return [];
  const offered = new Set(readList(body, 'tools').map((definition) => readText(definition, 'name')));
  return open.flatMap((block) => {
    const server = knownTools.get(readText(block.value, 'name') ?? '');
    const isGone = block.type === 'server_tool_use' && server !== undefined && !offered.has(server.offeredBy);
    return isGone
      ? [report(serverRules['server-tool-call-without-result'], block.path, describe(block, true))]
      : [];
  });
}

function describe({ type, value }: Block, isToolMissing: boolean): UnresolvedCall {
  const name = readText(value, 'name') ?? '';
  const known = type === 'mcp_tool_use' ? 'mcp_tool_result' : knownTools.get(name)?.resultType;
  return {
    id: readText(value, 'id') ?? '',
    name,
    resultType: known ?? `${name}_tool_result`,
    isToolMissing,
  };
}
