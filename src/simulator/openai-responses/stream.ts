import { asList, asString, type JsonObject } from '../../conversation/json.ts';
import { asObject } from '../json.ts';
import type { ServerEvent } from '../provider.ts';
import { inPieces } from '../reply.ts';

type Draft = readonly [type: string, fields: object];

/** A response as its stream: created, in progress, every item with its parts and deltas, and how it ended. */
export function responseEvents(response: JsonObject): readonly ServerEvent[] {
  const ending = response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [
    ...beginning(response),
    ...asList(response['output']).flatMap((item, index) => itemDrafts(asObject(item), index)),
    [ending, { response }] satisfies Draft,
  ].map(toEvent);
}

/** A stream that ends in `response.failed` before anything was said. */
export function failedResponseEvents(
  response: JsonObject,
  error: { readonly code: string; readonly message: string },
): readonly ServerEvent[] {
  const failed = { ...response, status: 'failed', error, output: [], usage: null };
  return [...beginning(response), ['response.failed', { response: failed }] satisfies Draft].map(toEvent);
}

function beginning(response: JsonObject): readonly Draft[] {
  const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  return [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
  ];
}

/** An event with its place in the stream. */
export function toEvent([type, fields]: Draft, sequenceNumber: number): ServerEvent {
  return { event: type, data: { type, sequence_number: sequenceNumber, ...fields } };
}

/** How an item of a type starts, and what is said before it is done. */
const itemStreams = new Map<
  string,
  { start(item: JsonObject): JsonObject; drafts(item: JsonObject, place: Place): readonly Draft[] }
>([
  [
    'reasoning',
    { start: (item) => ({ ...item, summary: [], encrypted_content: '' }), drafts: summaryDrafts },
  ],
  ['message', { start: (item) => ({ ...item, status: 'in_progress', content: [] }), drafts: textDrafts }],
  [
    'function_call',
    { start: (item) => ({ ...item, status: 'in_progress', arguments: '' }), drafts: argumentDrafts },
  ],
  [
    'custom_tool_call',
    { start: (item) => ({ ...item, status: 'in_progress', input: '' }), drafts: inputDrafts },
  ],
  [
    'web_search_call',
    { start: ({ action: _action, ...item }) => ({ ...item, status: 'in_progress' }), drafts: searchDrafts },
  ],
  [
    'compaction',
    {
      start: (item) => ({ ...item, encrypted_content: '' }),
      drafts: (_item, place) => [['response.compaction.compacting', place]],
    },
  ],
]);

/** Where events of an item belong. */
interface Place {
  readonly item_id: unknown;
  readonly output_index: number;
}

function itemDrafts(item: JsonObject, index: number): readonly Draft[] {
  const stream = itemStreams.get(asString(item['type']) ?? '');
  const place = { item_id: item['id'], output_index: index };
  return [
    ['response.output_item.added', { output_index: index, item: stream?.start(item) ?? item }],
    ...(stream?.drafts(item, place) ?? []),
    ['response.output_item.done', { output_index: index, item }],
  ];
}

function summaryDrafts(item: JsonObject, place: Place): readonly Draft[] {
  return asList(item['summary']).flatMap((part, index): readonly Draft[] => {
    const at = { ...place, summary_index: index };
    const text = asString(asObject(part)['text']) ?? '';
    return [
      ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }],
      ...inPieces(text).map((delta): Draft => ['response.reasoning_summary_text.delta', { ...at, delta }]),
      ['response.reasoning_summary_text.done', { ...at, text }],
      ['response.reasoning_summary_part.done', { ...at, part }],
    ];
  });
}

function textDrafts(item: JsonObject, place: Place): readonly Draft[] {
  return asList(item['content']).flatMap((part, index): readonly Draft[] => {
    const at = { ...place, content_index: index };
    const text = asString(asObject(part)['text']) ?? '';
    return [
      ['response.content_part.added', { ...at, part: { ...asObject(part), text: '' } }],
      ...inPieces(text).map((delta): Draft => ['response.output_text.delta', { ...at, delta, logprobs: [] }]),
      ['response.output_text.done', { ...at, text, logprobs: [] }],
      ['response.content_part.done', { ...at, part }],
    ];
  });
}

function argumentDrafts(item: JsonObject, place: Place): readonly Draft[] {
  const text = asString(item['arguments']) ?? '';
  return [
    ...inPieces(text).map((delta): Draft => ['response.function_call_arguments.delta', { ...place, delta }]),
    ['response.function_call_arguments.done', { ...place, name: item['name'], arguments: text }],
  ];
}

function inputDrafts(item: JsonObject, place: Place): readonly Draft[] {
  const text = asString(item['input']) ?? '';
  return [
    ...inPieces(text).map((delta): Draft => ['response.custom_tool_call_input.delta', { ...place, delta }]),
    ['response.custom_tool_call_input.done', { ...place, input: text }],
  ];
}

function searchDrafts(_item: JsonObject, place: Place): readonly Draft[] {
  return ['in_progress', 'searching', 'completed'].map((state) => [
    `response.web_search_call.${state}`,
    place,
  ]);
}
