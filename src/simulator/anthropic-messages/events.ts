import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { inPieces } from '../pieces.ts';
import type { ServerEvent } from '../provider.ts';

/** A message as its stream: start, every block with its deltas, the end with the whole usage. */
export function messageEvents(message: JsonObject): readonly ServerEvent[] {
  const usage = isObject(message['usage']) ? message['usage'] : {};
  const { input_transformations: transformations, ...rest } = message;
  const started = {
    ...rest,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const ended = {
    delta: { stop_reason: message['stop_reason'], stop_sequence: message['stop_sequence'] },
    usage,
    ...(transformations === undefined ? {} : { input_transformations: transformations }),
  };
  return [
    named('message_start', { message: started }),
    named('ping', {}),
    ...asList(message['content']).flatMap((block, index) => blockEvents(isObject(block) ? block : {}, index)),
    named('message_delta', ended),
    named('message_stop', {}),
  ];
}

/** Every event repeats its name as the type of its data. */
export function named(type: string, fields: object): ServerEvent {
  return { event: type, data: { type, ...fields } };
}

interface BlockStream {
  /** The block as it starts. */
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

const streams = new Map<string, (block: JsonObject) => BlockStream>([
  [
    'text',
    (block) => ({ start: { ...block, text: '' }, deltas: textDeltas('text_delta', 'text', block['text']) }),
  ],
  [
    'thinking',
    (block) => ({
      start: { ...block, thinking: '', signature: '' },
      deltas: [
        ...textDeltas('thinking_delta', 'thinking', block['thinking']),
        { type: 'signature_delta', signature: block['signature'] },
      ],
    }),
  ],
  [
    'compaction',
    // One made on demand is signed and arrives whole.
    (block) =>
      block['signature'] === undefined
        ? {
            start: { ...block, content: null },
            deltas: [
              {
                type: 'compaction_delta',
                content: block['content'],
                encrypted_content: block['encrypted_content'],
              },
            ],
          }
        : { start: block, deltas: [] },
  ],
  [
    'tool_use',
    (block) => ({
      start: { ...block, input: {} },
      deltas: [
        { type: 'input_json_delta', partial_json: '' },
        ...textDeltas('input_json_delta', 'partial_json', JSON.stringify(block['input'])),
      ],
    }),
  ],
]);

function blockEvents(block: JsonObject, index: number): readonly ServerEvent[] {
  const stream = streams.get(asString(block['type']) ?? '')?.(block);
  // A block of which nothing is known arrives whole.
  const { start, deltas } = stream ?? { start: block, deltas: [] };
  return [
    named('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ];
}

function textDeltas(type: string, field: string, text: unknown): readonly JsonObject[] {
  return inPieces(asString(text) ?? '').map((piece) => ({ type, [field]: piece }));
}
