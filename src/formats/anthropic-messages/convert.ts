/** Writes turns of any format as Anthropic Messages. */

import { filled, type MediaPart, type Part, type Target } from '../convert/target.ts';
import { anthropicMessages } from './format.ts';

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** A request has to limit its answer; this limit every model has. */
const DEFAULT_MAX_TOKENS = 4096;

/** Anthropic Messages: calls in the assistant's content, all their results at the head of the next user message. */
export const toAnthropicMessages: Target = {
  format: anthropicMessages,
  maxIdLength: 64,
  listTakesInstructions: false,
  refusesFinalSpace: true,
  takesMedia: takesAnthropicMedia,
  writeTurn: ({ role, parts }) => [{ role, content: parts.map(writePart) }],
  writeBody: (messages, { model, maxOutputTokens, instructions, tools }) =>
    filled({
      model,
      max_tokens: maxOutputTokens ?? (model === undefined ? undefined : DEFAULT_MAX_TOKENS),
      system: instructions.map((text) => ({ type: 'text', text })),
      tools: tools.map(({ name, description, schema }) =>
        filled({ name, description, input_schema: schema }),
      ),
      messages,
    }),
};

function takesAnthropicMedia(part: MediaPart): boolean {
  if (part.media !== 'image' && part.media !== 'document') return false;
  if (part.url !== undefined) return true;
  return part.media === 'image' ? IMAGE_TYPES.has(part.mimeType) : part.mimeType === 'application/pdf';
}

function writePart(part: Part): unknown {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'media':
      return { type: part.media, source: writeSource(part) };
    case 'call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input };
    case 'result':
      return filled({
        type: 'tool_result',
        tool_use_id: part.id,
        content: part.content.map(writePart),
        is_error: part.isError ? true : undefined,
      });
  }
}

function writeSource(part: MediaPart): unknown {
  if (part.url !== undefined) return { type: 'url', url: part.url };
  return { type: 'base64', media_type: part.mimeType, data: part.data };
}
