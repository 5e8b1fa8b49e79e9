/** Writes turns of any format as Responses API items. */

import {
  ERROR_NOTE,
  filled,
  isContent,
  type MediaPart,
  type Part,
  type ResultPart,
  resultText,
  type Target,
  type TextPart,
  type Turn,
  urlOf,
} from '../convert/target.ts';
import { openaiResponses } from './format.ts';

/**
 * OpenAI Responses: one item for every text, call and output. Items get no ids of their own: those are the server's to
 * give, and one with an id would have to come with the reasoning that stood before it.
 */
export const toOpenaiResponses: Target = {
  format: openaiResponses,
  maxIdLength: 64,
  listTakesInstructions: true,
  takesMedia: takesResponsesMedia,
  writeTurn: (turn) => (turn.role === 'assistant' ? turn.parts.map(writeAnswer) : writeOthers(turn)),
  writeBody: (input, { model, maxOutputTokens, tools }) =>
    filled({
      model,
      max_output_tokens: maxOutputTokens,
      tools: tools.map(({ name, description, schema }) =>
        filled({ type: 'function', name, description, parameters: schema, strict: false }),
      ),
      input,
    }),
};

function takesResponsesMedia(part: MediaPart): boolean {
  if (part.media === 'image') return true;
  return part.media === 'document' && (part.url !== undefined || part.mimeType === 'application/pdf');
}

function writeAnswer(part: Part): unknown {
  if (part.type === 'call') {
    return { type: 'function_call', call_id: part.id, name: part.name, arguments: part.inputText };
  }
  const text = part.type === 'text' ? part.text : '';
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] };
}

function writeOthers({ role, parts }: Turn): readonly unknown[] {
  const results = parts
    .filter((part) => part.type === 'result')
    .map((part) => ({ type: 'function_call_output', call_id: part.id, output: writeOutput(part) }));
  const content = parts.filter(isContent);
  if (content.length === 0) return results;
  return [...results, { type: 'message', role, content: content.map(writePart) }];
}

/** Text as such, since every server takes that. */
function writeOutput(result: ResultPart): unknown {
  if (result.content.every(({ type }) => type === 'text')) return resultText(result);
  const noted: readonly TextPart[] = result.isError ? [{ type: 'text', text: ERROR_NOTE }] : [];
  return [...noted, ...result.content].map(writePart);
}

function writePart(part: TextPart | MediaPart): unknown {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.media === 'image') return { type: 'input_image', image_url: urlOf(part), detail: 'auto' };
  if (part.url !== undefined) return { type: 'input_file', file_url: part.url };
  return { type: 'input_file', filename: 'document.pdf', file_data: urlOf(part) };
}
