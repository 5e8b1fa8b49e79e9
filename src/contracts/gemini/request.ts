import type { CheckContext } from '../contract.ts';
import { isObject, type JsonObject, readText } from '../json-value.ts';
import { type FieldName, field, listField } from './fields.ts';

/** One entry of `contents`, with the positions of the parts that pairing looks at. */
export interface Content {
  readonly value: unknown;
  readonly parts: readonly unknown[];
  /** Positions of the functionCall parts. */
  readonly calls: readonly number[];
  /** How many functionResponse parts there are. */
  readonly responseCount: number;
  readonly isModel: boolean;
  /** Whether it is a user's own message, which begins a turn, and not only function responses. */
  readonly opensTurn: boolean;
}

/** A request body with what is known about its destination. */
export interface GeminiRequest {
  readonly body: JsonObject;
  readonly contents: readonly Content[];
  readonly hasFrame: boolean;
  /** Major version of the Gemini model; undefined when the model is unknown or another one. */
  readonly generation: number | undefined;
  readonly isVertex: boolean;
  readonly context: CheckContext;
}

/** What counts as a message of the user's own. */
const messageFields: readonly FieldName[] = ['text', 'inlineData', 'fileData'];

/** Reads a body, or a bare list of contents when only these are known. Undefined when it is neither. */
export function readGeminiRequest(body: unknown, context: CheckContext): GeminiRequest | undefined {
  const hasFrame = context.scope !== 'messages';
  const request = !hasFrame && Array.isArray(body) ? { contents: body } : body;
  if (!isObject(request)) return undefined;
  return {
    body: request,
    contents: listField(request, 'contents').map(readContent),
    hasFrame,
    generation: readGeneration(context.model ?? readText(request, 'model') ?? ''),
    isVertex: context.vendor?.toLowerCase() === 'vertex',
    context,
  };
}

function readContent(value: unknown): Content {
  const parts = listField(value, 'parts');
  const isModel = field(value, 'role') === 'model';
  return {
    value,
    parts,
    calls: parts.flatMap((part, position) => (field(part, 'functionCall') === undefined ? [] : position)),
    responseCount: parts.filter((part) => field(part, 'functionResponse') !== undefined).length,
    isModel,
    opensTurn:
      !isModel && parts.some((part) => messageFields.some((name) => field(part, name) !== undefined)),
  };
}

function readGeneration(model: string): number | undefined {
  const digits = /gemini-(\d{1,3})/.exec(model)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
