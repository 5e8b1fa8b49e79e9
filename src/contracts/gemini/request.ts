import type { CheckContext, Violation } from '../contract.ts';
import { isGiven, isObject, type JsonObject, read, readText } from '../json-value.ts';
import { defineRules, report } from '../rule.ts';

/** One entry of `contents`, with the positions of the parts that pairing looks at. */
export interface Content {
  readonly value: unknown;
  readonly path: string;
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

/** Rules about single values. */
export const valueRules = defineRules({
  'wrong-kind-of-value': {
    alias: 'G0',
    title: 'every field holds the kind of value the schema names',
    fix: 'Give the field the kind of value the schema names.',
    evidence: 'inferred',
    wording: (path: string, type: string) =>
      `Invalid value at '${path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.${type})`,
  },
});

/** What counts as a message of the user's own. */
const messageFields: readonly FieldName[] = ['text', 'inlineData', 'fileData'];

/** Reads a body, or a bare list of contents when only these are known. */
export function readGeminiRequest(
  body: unknown,
  context: CheckContext,
): GeminiRequest | readonly Violation[] {
  const hasFrame = context.scope !== 'messages';
  const request = !hasFrame && Array.isArray(body) ? { contents: body } : body;
  if (!isObject(request))
    return [report(valueRules['wrong-kind-of-value'], 'body', 'GenerateContentRequest')];
  return {
    body: request,
    contents: listField(request, 'contents').map(readContent),
    hasFrame,
    generation: readGeneration(context.model ?? readText(request, 'model') ?? ''),
    isVertex: context.vendor?.toLowerCase() === 'vertex',
    context,
  };
}

function readContent(value: unknown, index: number): Content {
  const parts = listField(value, 'parts');
  const isModel = field(value, 'role') === 'model';
  return {
    value,
    path: `contents[${index}]`,
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

/** Fields by their JSON name, with the snake-case name that Google's parsers take as well. */
const snakeNames = {
  codeExecutionResult: 'code_execution_result',
  contents: 'contents',
  executableCode: 'executable_code',
  fileData: 'file_data',
  functionCall: 'function_call',
  functionResponse: 'function_response',
  inlineData: 'inline_data',
  mediaResolution: 'media_resolution',
  partMetadata: 'part_metadata',
  parts: 'parts',
  role: 'role',
  systemInstruction: 'system_instruction',
  text: 'text',
  thought: 'thought',
  thoughtSignature: 'thought_signature',
  toolCall: 'tool_call',
  toolResponse: 'tool_response',
  tools: 'tools',
  videoMetadata: 'video_metadata',
} as const;

/** The JSON name of a field that has rules. */
export type FieldName = keyof typeof snakeNames;

/** Both names of a field. */
export function namesOf(name: FieldName): readonly string[] {
  return [name, snakeNames[name]];
}

/** The value of a field under either of its names; undefined when it is missing or null. */
export function field(value: unknown, name: FieldName): unknown {
  const found = read(value, name) ?? read(value, snakeNames[name]);
  return isGiven(found) ? found : undefined;
}

/** A repeated field as a list: Google's parsers take a lone object for a list of one. */
export function listField(value: unknown, name: FieldName): readonly unknown[] {
  const found = field(value, name);
  if (Array.isArray(found)) return found;
  return isObject(found) ? [found] : [];
}
