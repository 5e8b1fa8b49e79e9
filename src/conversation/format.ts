import type { Block, Message, TextBlock, ToolCallBlock, ToolResultBlock } from './message.ts';

/** A tool the request offers. */
export interface ToolDefinition {
  readonly name: string;
  readonly raw: unknown;
}

/** What stands around the messages of a request. */
export interface Frame<Body = unknown> {
  /** The value that was read: a request body, or a bare list of messages. */
  readonly body: Body;
  /** The messages as they stood in the body. */
  readonly list: readonly unknown[];
  readonly model: string | undefined;
  /** Instructions outside the list: `system`, `instructions`, `systemInstruction`. */
  readonly system: readonly Block[];
  readonly tools: readonly ToolDefinition[];
  /** Set when the server holds part of the history (a stored response, a thread), so that the list is not all of it. */
  readonly continues: string | undefined;
  /** Set when the client has asked the provider to compact the conversation itself: there can be only one owner of it. */
  readonly managedBy: string | undefined;
}

/** The messages of one request or transcript in one wire format. Read-only; change it by making another one. */
export interface Conversation<Body = unknown> {
  readonly format: Format;
  readonly frame: Frame<Body>;
  readonly messages: readonly Message[];
}

/** How sure a format is that a value is written in it. `possible`: it fits, and so might another format. */
export type Recognition = 'no' | 'possible' | 'certain';

/** What a format demands of the place and the ids of tool results. */
export interface ToolRules {
  /**
   * - `next-message`: all results of a message's calls stand at the head of the one message after it
   * - `following-messages`: each result is a message of its own, directly after the call's message
   * - `later`: each result is an item of its own, anywhere after its call
   */
  readonly resultsStand: 'next-message' | 'following-messages' | 'later';
  /** Among which calls an id may stand only once: all of them, or those that wait for their result. */
  readonly callIdsUniqueAmong: 'all-calls' | 'open-calls';
  /** Wire types of blocks that may stand between a call and its results, in messages of their own. */
  readonly standBetween?: readonly string[];
}

/** A wire format: reads a value into typed views, and writes it back as it was. */
export interface Format {
  readonly name: string;
  /** One line for help and docs. */
  readonly summary: string;
  /** Key of a request body under which its list of messages stands. */
  readonly listKey: string;
  readonly tools: ToolRules;
  /** Whether the first message must be the user's. */
  readonly userFirst: boolean;
  /** Whether servers may refuse two neighbouring messages of the user, so that ours joins the one in front of it. */
  readonly alternates: boolean;
  /** Where system messages may stand in the list: anywhere, or only between a message of the user and an answer. */
  readonly systemStands: 'anywhere' | 'before-answers';
  /** Whether blank text is refused, so that repair has to remove it. */
  readonly refusesBlankText: boolean;
  /** Whether a message may hold reasoning and nothing else. */
  readonly reasoningStandsAlone: boolean;

  recognise(value: unknown): Recognition;
  /**
   * Reads a request body or a bare list of messages. Odd messages become odd views; nothing is judged here.
   * @throws RoundfoldError `input-not-understood` when there is no list of messages to read
   */
  read(value: unknown): Conversation;
  /** The view of one message of the list. The same object always gives the same view. */
  readMessage(raw: unknown): Message;
  /** The body with another list of messages in it; everything around the list stays as it is. */
  replaceList(frame: Frame, list: readonly unknown[]): unknown;

  textBlock(text: string): TextBlock;
  /** A result that tells the model that its call came to nothing. */
  failedResult(call: ToolCallBlock, text: string): ToolResultBlock;
  /**
   * The result with other content; what it answers, and whether it is an error, stay as they are. The very same result
   * where only the provider may write it. Blank text is the caller's fault.
   */
  withResultContent(result: ToolResultBlock, content: readonly Block[]): ToolResultBlock;
  /** New user messages that carry these blocks: one, or one per tool result where a result is a message. */
  userMessages(blocks: readonly Block[]): readonly Message[];
  /** The message with other blocks; its other fields stay. */
  withBlocks(message: Message, blocks: readonly Block[]): Message;
}

/**
 * The value this conversation stands for. When its messages are those that were read, this is the very value that was
 * read; otherwise a new one in which every untouched message is the same value as before.
 */
export function writeConversation<Body>({ format, frame, messages }: Conversation<Body>): Body {
  const isUntouched =
    messages.length === frame.list.length &&
    messages.every((message, index) => Object.is(message.raw, frame.list[index]));
  if (isUntouched) return frame.body;
  // A body with another list in it is of the same type as before.
  return format.replaceList(
    frame,
    messages.map((message) => message.raw),
  ) as Body;
}

/** The same conversation with other messages; the very same one when they are the same list. */
export function withMessages<Body>(
  conversation: Conversation<Body>,
  messages: readonly Message[],
): Conversation<Body> {
  return messages === conversation.messages ? conversation : { ...conversation, messages };
}
