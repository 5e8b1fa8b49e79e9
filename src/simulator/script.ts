import type { Conversation } from '../conversation/format.ts';
import { asList, asString, type JsonObject } from '../conversation/json.ts';
import { isUserText, type Message } from '../conversation/message.ts';
import { asObject } from './json.ts';
import type { Reply, ReplyPart } from './reply.ts';

/** A tool that the model may call, as the request offers it. */
export interface OfferedTool {
  readonly name: string;
  /** JSON schema of its input; empty when the request gives none. */
  readonly schema: JsonObject;
  /** Default `function`. */
  readonly kind?: ToolKind | undefined;
}

/**
 * - `function`: takes an object
 * - `custom`: takes a text, which a call gives as its `input`
 * - `tool-search`: finds tools that the request left out; the client looks for them, or the provider does
 * - `web-search`: the provider runs it itself, and no result is awaited
 */
export type ToolKind = 'function' | 'custom' | 'tool-search' | 'web-search';

/** What the model is asked in one request. */
export interface Turn {
  /** Counts from 1, over all requests that were answered by the script. */
  readonly number: number;
  readonly conversation: Conversation;
  /** Tools that may be called now; empty when the request forbids it. */
  readonly tools: readonly OfferedTool[];
  /** `forced`: the request demands a call of one of `tools`. */
  readonly toolChoice: 'free' | 'forced';
  readonly mayCallInParallel: boolean;
  /** Whether the request has the model think before it speaks. */
  readonly thinks: boolean;
  readonly promptTokens: number;
  /** Counts from 0 where one request asks for several answers; 0 for every other. */
  readonly choice: number;
}

/** Decides what the model says. Has to be deterministic if runs are to be repeatable. */
export type Script = (turn: Turn) => Reply;

/** Results after which the agent is done with a task, and the number of results at which it calls two tools at once. */
const resultsPerTask = 4;
const parallelAt = 1;

/**
 * A deterministic agent: calls the offered functions in turn, two at once in its second step, thinks where thinking is
 * on, and ends the task after four results. Without functions it answers at once.
 */
export const defaultScript: Script = (turn) => {
  const { messages } = turn.conversation;
  const task = messages.slice(messages.findLastIndex(isUserText) + 1);
  const results = countBlocks(task, 'tool-result');
  const calls = chooseCalls(turn, results);
  const thinking: ReplyPart[] = turn.thinks ? [{ type: 'thinking', text: thoughtAbout(turn, results) }] : [];
  const text =
    calls.length > 0
      ? `Step ${results + 1} – calling ${calls.map(({ name }) => name).join(' and ')}.`
      : `Done after ${results} results ✓ (${messages.length} messages read, “naïve” but thorough 🙂).`;
  return { parts: [...thinking, { type: 'text', text }, ...calls] };
};

function chooseCalls(turn: Turn, results: number): readonly (ReplyPart & { readonly type: 'tool-call' })[] {
  const { toolChoice, mayCallInParallel, conversation } = turn;
  const tools = turn.tools.filter(({ kind = 'function' }) => kind === 'function');
  if (tools.length === 0 || (results >= resultsPerTask && toolChoice === 'free')) return [];
  const first = countBlocks(conversation.messages, 'tool-call');
  const count = results === parallelAt && mayCallInParallel ? 2 : 1;
  return Array.from({ length: count }, (_, offset) => tools[(first + offset) % tools.length]).flatMap(
    (tool) =>
      tool === undefined ? [] : [{ type: 'tool-call', name: tool.name, input: exampleInput(tool.schema) }],
  );
}

function thoughtAbout({ number, tools }: Turn, results: number): string {
  return `Turn ${number}: ${results} results so far, ${tools.length} tools at hand – what comes next?`;
}

function countBlocks(messages: readonly Message[], type: 'tool-call' | 'tool-result'): number {
  return messages.reduce(
    (count, { blocks }) => count + blocks.filter((block) => block.type === type).length,
    0,
  );
}

const deepest = 4;

/** An input that fits a tool's JSON schema as far as its types and required properties go. */
export function exampleInput(schema: JsonObject, depth = 0): JsonObject {
  const properties = asObject(schema['properties']);
  const names = asList(schema['required']).filter((name) => typeof name === 'string');
  return Object.fromEntries(
    names.map((name) => {
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, exampleValue(name, asObject(inner), depth)];
    }),
  );
}

function exampleValue(name: string, schema: JsonObject, depth: number): unknown {
  const [first] = asList(schema['enum']);
  if (first !== undefined) return first;
  // Google writes types in capitals.
  switch ((asString(schema['type']) ?? asString(asList(schema['type'])[0]))?.toLowerCase()) {
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'null':
      return null;
    case 'object':
      return depth < deepest ? exampleInput(schema, depth + 1) : {};
    default:
      return `example ${name}`;
  }
}
