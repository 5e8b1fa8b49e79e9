import type { Format } from '../../conversation/format.ts';
import type { JsonObject } from '../../conversation/json.ts';
import type { MediaBlock, Role } from '../../conversation/message.ts';

/** One turn of user or assistant, not yet written in any format. */
export interface Turn {
  readonly role: Role;
  /** Results come first, in the order of their calls, and only directly behind the turn that made these calls. */
  readonly parts: readonly Part[];
}

export type Part = TextPart | MediaPart | CallPart | ResultPart;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A picture, document or recording that can be carried over: its bytes with their type, or a public address. */
export type MediaPart = { readonly type: 'media'; readonly media: MediaBlock['media'] } & (
  | { readonly mimeType: string; readonly data: string; readonly url?: undefined }
  | { readonly url: string; readonly data?: undefined }
);

export interface CallPart {
  readonly type: 'call';
  /** Legal in the target, and of this call alone. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** The same as JSON; the very text of the source where that was text. */
  readonly inputText: string;
}

export interface ResultPart {
  readonly type: 'result';
  readonly id: string;
  readonly name: string;
  readonly isError: boolean;
  readonly content: readonly (TextPart | MediaPart)[];
}

/** What stands around the turns. */
export interface TurnFrame {
  readonly model: string | undefined;
  readonly instructions: readonly string[];
  readonly tools: readonly TurnTool[];
  readonly maxOutputTokens: number | undefined;
}

export interface TurnTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonObject;
}

/** A format that conversations can be converted to. A new one is a file beside its format and a line in `convert.ts`. */
export interface Target {
  readonly format: Format;
  readonly maxIdLength: number;
  /** Whether instructions may stand in the list of messages: at its head and in its middle. */
  readonly listTakesInstructions: boolean;
  /** Whether the list may not end with blanks that the assistant wrote. */
  readonly refusesFinalSpace?: boolean;
  /** Whether this can stand in a user message, or in the result of a tool. */
  takesMedia(media: MediaPart, place: 'user' | 'result'): boolean;
  writeTurn(turn: Turn): readonly unknown[];
  /** A request around the list. */
  writeBody(list: readonly unknown[], frame: TurnFrame): JsonObject;
}

/** The object without the fields that are undefined or hold an empty list. */
export function filled(fields: JsonObject): JsonObject {
  const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

/** In front of what a tool said, where a format has no other sign for errors. */
export const ERROR_NOTE = '[the tool reported an error]';

/** All readable text of a result, for formats that take nothing else. */
export function resultText({ content, isError }: ResultPart): string {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return (isError ? [ERROR_NOTE, ...texts] : texts).join('\n');
}

/** A `data:` URL for formats that have no other place for bytes. */
export function urlOf(part: MediaPart): string {
  return part.url ?? `data:${part.mimeType};base64,${part.data}`;
}

export function isContent(part: Part): part is TextPart | MediaPart {
  return part.type === 'text' || part.type === 'media';
}
