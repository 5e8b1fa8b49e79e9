/** Who speaks. A provider's `developer` is `system`, `model` is `assistant`, `tool` and `function` are `user`. */
export type Role = 'system' | 'user' | 'assistant';

/**
 * A typed view of one message (or item, or content) of a wire format. Views are read-only and context-free:
 * the same raw value always gives the same view, so that sizes can be remembered per message.
 */
export interface Message {
  readonly role: Role;
  readonly blocks: readonly Block[];
  /** The response this message is a record of, where the source names it. Records of one response belong together. */
  readonly responseId: string | undefined;
  /** What the provider reported with this response, where the source keeps it. */
  readonly usage: Usage | undefined;
  /** The value as it came. An untouched message is written back as this very value. */
  readonly raw: unknown;
}

/** Tokens as reported by a provider. `promptTokens` includes what was read from or written to a cache. */
export interface Usage {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** What two runs cost together; undefined when neither reported anything. */
export function addUsage(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    promptTokens: left.promptTokens + right.promptTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
}

export type Block =
  | TextBlock
  | ToolCallBlock
  | ToolResultBlock
  | ReasoningBlock
  | MediaBlock
  | CompactionBlock
  | OtherBlock;

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly raw: unknown;
}

export interface ToolCallBlock {
  readonly type: 'tool-call';
  /** Missing in formats that pair by order (Gemini). */
  readonly id: string | undefined;
  readonly name: string;
  /** As on the wire: a parsed value, or the raw string (which need not be JSON). */
  readonly input: unknown;
  /** `server`: the provider runs the tool and puts its result into the assistant's own message. */
  readonly runBy: 'client' | 'server';
  readonly raw: unknown;
}

export interface ToolResultBlock {
  readonly type: 'tool-result';
  readonly callId: string | undefined;
  /** Name of the tool, where the result itself carries it. */
  readonly name: string | undefined;
  readonly content: readonly Block[];
  readonly isError: boolean;
  readonly runBy: 'client' | 'server';
  readonly raw: unknown;
}

/** Thinking, redacted thinking, a reasoning item. Never edited, only kept or removed whole. */
export interface ReasoningBlock {
  readonly type: 'reasoning';
  /** Readable text; empty when it is omitted, redacted or encrypted. */
  readonly text: string;
  /** Redacted or encrypted content that goes back to the model (a mere signature does not count as content). */
  readonly sealed: string | undefined;
  readonly raw: unknown;
}

export interface MediaBlock {
  readonly type: 'media';
  readonly media: 'image' | 'document' | 'audio' | 'video';
  /** Base64 data, where the request carries the bytes itself. */
  readonly data: string | undefined;
  /** Plain text of a text document. */
  readonly text: string | undefined;
  /** Rendering detail asked for (`low`, `high`, `auto`, …), where the format has such a thing. */
  readonly detail: string | undefined;
  readonly raw: unknown;
}

/** A summary made by the provider. Everything before it is ignored; it may never be moved or removed. */
export interface CompactionBlock {
  readonly type: 'compaction';
  readonly text: string;
  readonly raw: unknown;
}

/** A block this version does not know. Kept as it is. */
export interface OtherBlock {
  readonly type: 'other';
  readonly wireType: string | undefined;
  readonly raw: unknown;
}

/** Whether the message answers a tool call of the client's. */
export function hasToolResult(message: Message): boolean {
  return message.blocks.some((block) => block.type === 'tool-result' && block.runBy === 'client');
}

/** Whether the message asks the client to run a tool. */
export function hasToolCall(message: Message): boolean {
  return message.blocks.some((block) => block.type === 'tool-call' && block.runBy === 'client');
}

/** A user message that is no mere answer to a tool call. */
export function isUserText(message: Message): boolean {
  return message.role === 'user' && !hasToolResult(message);
}

/** The readable text of a block, tool results and documents included; empty for what has none. */
export function textOf(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'reasoning':
    case 'compaction':
      return block.text;
    case 'tool-result':
      return block.content.map(textOf).join('\n');
    case 'media':
      return block.text ?? '';
    case 'tool-call':
    case 'other':
      return '';
  }
}

/** The arguments of a call as an object, or undefined when they are none (free text, invalid JSON). */
export function callArguments(call: ToolCallBlock): Readonly<Record<string, unknown>> | undefined {
  const value = typeof call.input === 'string' ? tryParse(call.input) : call.input;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>; // an object that is no array: any key may be asked for
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
