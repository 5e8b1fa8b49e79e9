import type { SealVerdict, Violation } from '../contract.ts';
import { isGiven, isObject, read, readText } from '../json-value.ts';
import { isOpenai } from '../openai-chat/request.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { itemKind, itemType, type ResponsesRequest, valueRules } from './request.ts';

const shapeRules = defineRules({
  'conflicting-cache-controls': {
    alias: 'R9',
    title: 'one cache control, not both',
    fix: 'Send either prompt_cache_options or prompt_cache_retention.',
    evidence: 'documented',
    wording: () => "'prompt_cache_options' and 'prompt_cache_retention' cannot be used together.",
  },
  'compaction-trigger-not-last': {
    alias: 'R10',
    title: 'a compaction trigger is the last input item',
    fix: 'Move the compaction trigger to the end of the input.',
    evidence: 'types',
    wording: (path: string) =>
      `Invalid '${path}': an item of type 'compaction_trigger' must be the final input item.`,
  },
});

/** Kinds of values, presence, and what may not stand together. */
export const responsesShape: RuleGroup<ResponsesRequest> = {
  rules: { ...valueRules, ...shapeRules },
  check: (request) => [
    ...checkInput(request),
    ...checkCacheControls(request),
    ...request.items.flatMap((item, index) =>
      checkItem(item, `input[${index}]`, index === request.items.length - 1),
    ),
  ],
};

/** What the input may be left out for. */
const inputStandIns = ['previous_response_id', 'conversation', 'prompt'];

function checkInput({ body }: ResponsesRequest): readonly Violation[] {
  const input = read(body, 'input');
  if (typeof input === 'string' || Array.isArray(input)) return [];
  if (isGiven(input)) {
    const expected = 'one of a string or array of objects';
    return [report(valueRules['wrong-kind-of-value'], 'input', expected, input)];
  }
  if (inputStandIns.some((field) => isGiven(read(body, field)))) return [];
  return [report(valueRules['missing-field'], 'input')];
}

function checkCacheControls({ body, hasFrame }: ResponsesRequest): readonly Violation[] {
  const hasBoth =
    isGiven(read(body, 'prompt_cache_options')) && isGiven(read(body, 'prompt_cache_retention'));
  return hasFrame && hasBoth
    ? [report(shapeRules['conflicting-cache-controls'], 'prompt_cache_retention')]
    : [];
}

/** Items that cannot be paired without a `call_id`. Hosted searches carry null there. */
const needCallId = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

function checkItem(item: unknown, path: string, isLast: boolean): readonly Violation[] {
  if (!isObject(item)) return [report(valueRules['wrong-kind-of-value'], path, 'an object', item)];
  const type = itemType(item);
  if (type === undefined) return [report(valueRules['missing-field'], `${path}.type`)];
  if (type === 'compaction_trigger' && !isLast) {
    return [report(shapeRules['compaction-trigger-not-last'], path)];
  }
  return needCallId.has(type) && readText(item, 'call_id') === undefined
    ? [report(valueRules['missing-field'], `${path}.call_id`)]
    : [];
}

const maxCallIdLength = 64;

const idRules = defineRules({
  'malformed-item-id': {
    alias: 'R5',
    title: 'the id of an item begins as the server gives it out',
    fix: 'Send the id the server gave, or leave the id out.',
    evidence: 'reported',
    wording: (path: string, id: string, prefix: string) =>
      `Invalid '${path}': '${id}'. Expected an ID that begins with '${prefix}'.`,
  },
  'duplicate-item-id': {
    alias: 'R11',
    title: 'no two items have the same id',
    fix: 'Keep one item per id.',
    evidence: 'reported',
    wording: (_path: string, id: string) =>
      `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
  },
  'tool-call-id-too-long': {
    alias: 'R12',
    title: 'call ids have at most 64 characters',
    fix: 'Map long call ids to shorter ones, in the call and in its output.',
    evidence: 'reported',
    wording: (path: string, length: number) =>
      `Invalid '${path}': string too long. Expected a string with maximum length ${maxCallIdLength}, but got a string with length ${length} instead.`,
  },
});

/** Ids as OpenAI gives them out. Compatible servers use ids of their own and are left alone. */
export const responsesIds: RuleGroup<ResponsesRequest> = { rules: idRules, check: checkIds };

function checkIds({ items, vendor }: ResponsesRequest): readonly Violation[] {
  if (!isOpenai(vendor)) return [];
  const seen = new Set<string>();
  const longIds = new Set<string>();
  return items.flatMap((item, index) => [
    ...checkItemId(item, `input[${index}]`, seen),
    ...checkCallId(item, `input[${index}].call_id`, longIds),
  ]);
}

function checkItemId(item: unknown, path: string, seen: Set<string>): readonly Violation[] {
  const id = readText(item, 'id');
  if (id === undefined) return [];
  const { idPrefix = '' } = itemKind(item);
  // Answers of the older shell tool repeat the id of their call.
  const isRepeated = seen.has(id) && itemType(item) !== 'local_shell_call_output';
  if (itemType(item) !== 'local_shell_call_output') seen.add(id);
  return [
    ...(id.startsWith(idPrefix) ? [] : [report(idRules['malformed-item-id'], `${path}.id`, id, idPrefix)]),
    ...(isRepeated ? [report(idRules['duplicate-item-id'], path, id)] : []),
  ];
}

/** A long id is one fault, reported at the call; its output only repeats it. */
function checkCallId(item: unknown, path: string, longIds: Set<string>): readonly Violation[] {
  const id = readText(item, 'call_id');
  if (id === undefined || id.length <= maxCallIdLength || longIds.has(id)) return [];
  longIds.add(id);
  return [report(idRules['tool-call-id-too-long'], path, id.length)];
}

const stateRules = defineRules({
  'previous-response-not-found': {
    alias: 'R6',
    title: 'the previous response is still stored',
    fix: 'Send the whole history as input instead of previous_response_id.',
    evidence: 'reported',
    wording: (_path: string, id: string) => `Previous response with id '${id}' not found.`,
  },
  'encrypted-content-invalid': {
    alias: 'R7',
    title: 'encrypted content goes back as it came, under the id it came with',
    fix: 'Restore the value and the id of the item as the server sent them, or remove the item.',
    evidence: 'reported',
    wording: (_path: string, content: string) =>
      `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
  },
  'stored-item-not-found': {
    alias: 'R8',
    title: 'an item sent by its id alone is still stored',
    fix: 'Send the item with its content, or remove it.',
    evidence: 'reported',
    wording: (_path: string, id: string) =>
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  },
});

/** What only the server, or something that plays it, can know. Silent where the context does not tell. */
export const responsesServerState: RuleGroup<ResponsesRequest> = {
  rules: stateRules,
  check: (request) => [...checkPrevious(request), ...checkStoredItems(request), ...checkSeals(request)],
};

function checkPrevious({ body, hasFrame, context }: ResponsesRequest): readonly Violation[] {
  const id = readText(body, 'previous_response_id');
  if (!hasFrame || id === undefined || context.stored === undefined || context.stored(id)) return [];
  return [report(stateRules['previous-response-not-found'], 'previous_response_id', id)];
}

function checkStoredItems({ items, context: { stored } }: ResponsesRequest): readonly Violation[] {
  if (stored === undefined) return [];
  return items.flatMap((item, index) => {
    const id = readText(item, 'id');
    const isLost = id !== undefined && standsForStored(item) && !stored(id);
    return isLost ? [report(stateRules['stored-item-not-found'], `input[${index}]`, id)] : [];
  });
}

/** References, and thoughts without the encrypted content that would make them readable on their own. */
function standsForStored(item: unknown): boolean {
  const type = itemType(item);
  return type === 'item_reference' || (type === 'reasoning' && !isGiven(read(item, 'encrypted_content')));
}

/** Thoughts that stood before an item may be taken out: each seal is checked by itself. */
const acceptedVerdicts = new Set<SealVerdict>(['valid', 'gap']);

function checkSeals({ items, body, context: { seals } }: ResponsesRequest): readonly Violation[] {
  if (seals === undefined) return [];
  return items.flatMap((item, index) => {
    const kind = itemType(item);
    const content = readText(item, 'encrypted_content');
    const path = `input[${index}]`;
    if ((kind !== 'reasoning' && kind !== 'compaction') || content === undefined) return [];
    if (acceptedVerdicts.has(seals({ kind, value: item, path, body }))) return [];
    return [report(stateRules['encrypted-content-invalid'], `${path}.encrypted_content`, content)];
  });
}
