import type { JsonObject } from '../../conversation/json.ts';
import type { MediaBlock, Role } from '../../conversation/message.ts';

/** What one side says until another one speaks, written in no format yet. */
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

/** All readable text of a result, for formats that take nothing else. */
export function resultText({ content, isError }: ResultPart): string {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return (isError ? [ERROR_NOTE, ...texts] : texts).join('\n');
}

/** In front of what a tool said, where a format has no other sign for errors. */
export const ERROR_NOTE = '[the tool reported an error]';
