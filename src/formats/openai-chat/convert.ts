/** Writes turns of any format as Chat Completions messages. */

import {
  filled,
  isContent,
  type MediaPart,
  resultText,
  type Target,
  type TextPart,
  type Turn,
  urlOf,
} from '../convert/target.ts';
import { openaiChat } from './format.ts';

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/mpeg', 'mp3'],
]);

/** OpenAI Chat: calls beside the content, every result a message of its own, text alone in it. */
export const toOpenaiChat: Target = {
  format: openaiChat,
  maxIdLength: 40,
  listTakesInstructions: true,
  takesMedia: (part, place) => place === 'user' && takesChatMedia(part),
  writeTurn: (turn) => (turn.role === 'assistant' ? [writeAnswer(turn)] : writeOthers(turn)),
  writeBody: (messages, { model, maxOutputTokens, tools }) =>
    filled({
      model,
      max_completion_tokens: maxOutputTokens,
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: filled({ name, description, parameters: schema }),
      })),
      messages,
    }),
};

function takesChatMedia(part: MediaPart): boolean {
  if (part.media === 'image') return true;
  if (part.url !== undefined) return false;
  return part.media === 'audio' ? AUDIO_FORMATS.has(part.mimeType) : part.mimeType === 'application/pdf';
}

function writeAnswer({ parts }: Turn): unknown {
  const calls = parts.filter((part) => part.type === 'call');
  return filled({
    role: 'assistant',
    content: writeContent(parts.filter(isContent)) ?? null,
    tool_calls: calls.map(({ id, name, inputText }) => ({
      id,
      type: 'function',
      function: { name, arguments: inputText },
    })),
  });
}

function writeOthers({ role, parts }: Turn): readonly unknown[] {
  const results = parts
    .filter((part) => part.type === 'result')
    .map((part) => ({ role: 'tool', tool_call_id: part.id, content: resultText(part) }));
  const content = writeContent(parts.filter(isContent));
  return content === undefined ? results : [...results, { role, content }];
}

/** One text is written as such, since every server takes that. */
function writeContent(parts: readonly (TextPart | MediaPart)[]): unknown {
  const [only] = parts;
  if (only === undefined) return undefined;
  return parts.length === 1 && only.type === 'text' ? only.text : parts.map(writePart);
}

function writePart(part: TextPart | MediaPart): unknown {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.media === 'image') return { type: 'image_url', image_url: { url: urlOf(part) } };
  if (part.media === 'audio' && part.data !== undefined) {
    const format = AUDIO_FORMATS.get(part.mimeType);
    return { type: 'input_audio', input_audio: { data: part.data, format } };
  }
  return { type: 'file', file: { filename: 'document.pdf', file_data: urlOf(part) } };
}
