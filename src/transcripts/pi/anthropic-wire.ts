import { asString, type JsonObject } from '../../conversation/json.ts';
import { anthropicSegment, type Piece } from '../anthropic-turns.ts';
import type { Tally } from '../tally.ts';
import { createCallIds } from './call-ids.ts';
import type { AssistantEntry, Author } from './entries.ts';
import type { Wire } from './wire.ts';

/** APIs whose thinking signatures are Anthropic's. Those of other providers mean nothing in this format. */
const CLAUDE_APIS = new Set(['anthropic-messages', 'bedrock-converse-stream']);

/** A session as Anthropic messages, whichever API it was recorded with. */
export function anthropicWire(tally: Tally): Wire<Piece> {
  const calls = createCallIds();

  const writeBlock = (block: JsonObject, { api }: Author): readonly JsonObject[] => {
    if (block['type'] === 'thinking') return writeThinking(block, CLAUDE_APIS.has(api), tally);
    if (block['type'] !== 'toolCall') return [sharedBlock(block)];
    const id = calls.nameOf(asString(block['id']) ?? '');
    return [{ type: 'tool_use', id, name: block['name'], input: block['arguments'] ?? {} }];
  };

  const writeTurn = ({ content, author, isCutShort, origin }: AssistantEntry): readonly Piece[] => {
    const blocks = content.flatMap((block) => writeBlock(block, author));
    if (blocks.length > 0) return [{ role: 'assistant', content: blocks, origin }];
    tally.add(
      isCutShort
        ? '{n} aborted or failed turn{s} without content left out'
        : '{n} turn{s} without content left out',
    );
    return [];
  };

  return {
    format: 'anthropic-messages',
    write(entry) {
      if (entry.role === 'system') return [];
      if (entry.role === 'assistant') return writeTurn(entry);
      const { content: recorded, origin } = entry;
      const content = typeof recorded === 'string' ? recorded : recorded.map(sharedBlock);
      if (entry.role === 'user') return [{ role: 'user', content, origin }];
      const block = {
        type: 'tool_result',
        tool_use_id: calls.nameOf(entry.callId),
        ...(content.length > 0 ? { content } : {}),
        ...(entry.isError ? { is_error: true } : {}),
      };
      return [{ role: 'result', block, origin }];
    },
    segment(pieces, { instructions, tools }) {
      const segment = anthropicSegment(pieces);
      if (instructions === '' && tools.length === 0) return segment;
      const body = {
        ...(instructions === '' ? {} : { system: instructions }),
        ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
        messages: segment.body,
      };
      return { ...segment, body };
    },
  };
}

function toTool({ name, description, parameters }: JsonObject): JsonObject {
  return { name, description, input_schema: parameters };
}

function writeThinking(block: JsonObject, isClaude: boolean, tally: Tally): readonly JsonObject[] {
  const signature = asString(block['thinkingSignature']) ?? '';
  if (!isClaude || signature === '') {
    tally.add('{n} thinking block{s} without an Anthropic signature left out');
    return [];
  }
  if (block['redacted'] === true) return [{ type: 'redacted_thinking', data: signature }];
  return [{ type: 'thinking', thinking: asString(block['thinking']) ?? '', signature }];
}

/** Text and images, as they occur in every role. Blocks of an unknown type stay the very same values. */
function sharedBlock(block: JsonObject): JsonObject {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string')
    return Object.keys(block).length === 2 ? block : { type, text };
  if (type === 'image' && typeof data === 'string')
    return { type, source: { type: 'base64', media_type: mimeType, data } };
  return block;
}
