import type { Format } from '../../conversation/format.ts';
import type { JsonObject } from '../../conversation/json.ts';
import type { MediaPart, Turn, TurnFrame } from './turn.ts';

/** A format that conversations can be converted to. A new one is one file and one line in `convert.ts`. */
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

/** The object without the fields that are undefined. */
export function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
