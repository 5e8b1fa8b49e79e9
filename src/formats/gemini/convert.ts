/** Writes turns of any format as Gemini contents. */

import { filled, type Part, resultText, type Target, type Turn } from '../convert/target.ts';
import { gemini } from './format.ts';

/** Stands for the signature of a call that another model made; Gemini 3 and later refuse a first call without one. */
export const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

/** Gemini: calls and responses as parts, as many responses in the next content as there are calls. */
export const toGemini: Target = {
  format: gemini,
  maxIdLength: 64,
  listTakesInstructions: false,
  // Older models take no media inside of a response, and addresses only of Google's own store.
  takesMedia: (part, place) => place === 'user' && part.data !== undefined,
  writeTurn: (turn) => [{ role: turn.role === 'assistant' ? 'model' : 'user', parts: writeParts(turn) }],
  // The model stands in the address of the request.
  writeBody: (contents, { maxOutputTokens, instructions, tools }) => {
    const functionDeclarations = tools.map(({ name, description, schema }) =>
      filled({ name, description, parametersJsonSchema: schema }),
    );
    return filled({
      systemInstruction:
        instructions.length === 0 ? undefined : { parts: instructions.map((text) => ({ text })) },
      tools: tools.length === 0 ? [] : [{ functionDeclarations }],
      generationConfig: maxOutputTokens === undefined ? undefined : { maxOutputTokens },
      contents,
    });
  },
};

function writeParts({ parts }: Turn): readonly unknown[] {
  const first = parts.find((part) => part.type === 'call');
  return parts.map((part) => {
    const written = writePart(part);
    return part === first ? { ...written, thoughtSignature: FOREIGN_SIGNATURE } : written;
  });
}

function writePart(part: Part): object {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'media':
      return { inlineData: part.data === undefined ? {} : { mimeType: part.mimeType, data: part.data } };
    case 'call':
      return { functionCall: { id: part.id, name: part.name, args: part.input } };
    case 'result': {
      const text = resultText({ ...part, isError: false });
      const response = part.isError ? { error: text } : { output: text };
      return { functionResponse: { id: part.id, name: part.name, response } };
    }
  }
}
