import type { Conversation, Format } from '../../conversation/format.ts';
import type { JsonObject } from '../../conversation/json.ts';
import type { Block, Message, ToolCallBlock } from '../../conversation/message.ts';
import type { ChangeLog } from '../convert/changes.ts';

/** What a mender knows about the conversation besides its messages. */
export interface MendContext {
  readonly format: Format;
  readonly frame: Conversation['frame'];
  readonly model: string | undefined;
  /** Whether the messages stand in a request: a bare list may carry notes of its keeper, and may end with an answer. */
  readonly isRequest: boolean;
  readonly log: ChangeLog;
}

/** How a format names calls, and how a call and its result are given another id. */
export interface IdRules {
  readonly maxLength: number;
  isLegal(id: string): boolean;
  /** Whether this call has to have an id. */
  needsId(call: ToolCallBlock): boolean;
  withCallId(call: JsonObject, id: string): JsonObject;
  withAnsweredId(result: JsonObject, id: string): JsonObject;
}

/** What is particular to mending one format. A new one is one file and one line in `mend.ts`. */
export interface Mender {
  /** The message in a shape that the provider can read: the very same value, other values in its place, or none. */
  shape(raw: unknown, context: MendContext): readonly unknown[];
  /** Undefined where ids stay as they are. */
  idRules?(context: MendContext): IdRules;
  /**
   * A message of calls with other blocks at some positions, where the format writes a call down in more places than one;
   * undefined for a message of another kind.
   */
  withCalls?(message: Message, replaced: ReadonlyMap<number, readonly Block[]>): Message | undefined;
  /** Whether neighbouring answers with calls may share the message of their results. */
  readonly mayShareAnswer?: boolean;
  /** Whether pictures of a result may stand in a user message as they are. */
  readonly resultMediaFitsUser?: boolean;
  /** Gives a test that tells which open calls have to get a result. All of them where this is left out. */
  owesResult?(messages: readonly Message[]): (call: ToolCallBlock) => boolean;
  /** What has to be done before calls and results are paired. */
  prepare?(messages: readonly Message[], context: MendContext): readonly Message[];
  /** What has to be done when every call has its result. */
  arrange?(messages: readonly Message[], context: MendContext): readonly Message[];
  /** The body with these instructions in its frame; undefined where they may stay in the list. */
  withInstructions?(body: JsonObject, texts: readonly string[]): JsonObject | undefined;
  /** Whether the list is all there is, even where its frame speaks of more to come. */
  readonly holdsWholeHistory?: boolean;
  /** Whether a request may have no messages at all. */
  readonly mayBeEmpty?: boolean;
}
