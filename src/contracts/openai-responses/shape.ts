import type { Finding } from '../finding.ts';
import { isGiven, isObject, read, readText } from '../json-value.ts';
import { itemType } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { report, responsesRules } from './rules.ts';

const { R0, R9, R10 } = responsesRules;

/** What the input may be left out for. */
const inputStandIns = ['previous_response_id', 'conversation', 'prompt'];

/** Items that cannot be paired without a `call_id`. Hosted searches carry null there. */
const needCallId = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

/** R0, R9 and R10: types, presence, and what may not stand together. */
export function checkShape(request: ResponsesRequest): readonly Finding[] {
  const last = request.items.length - 1;
  return [
    ...checkInput(request),
    ...checkCacheControls(request),
    ...request.items.flatMap((item, index) => [
      ...checkItem(item, index),
      ...(itemType(item) === 'compaction_trigger' && index < last ? [reportTrigger(index)] : []),
    ]),
  ];
}

function checkInput({ body }: ResponsesRequest): readonly Finding[] {
  const input = read(body, 'input');
  const fault = { place: [], path: 'input' };
  if (typeof input === 'string' || Array.isArray(input)) return [];
  if (isGiven(input)) {
    const message = R0.wording.type('input', 'one of a string or array of objects', input);
    return [report('R0', { ...fault, message })];
  }
  if (inputStandIns.some((field) => isGiven(read(body, field)))) return [];
  return [report('R0', { ...fault, message: R0.wording.missing('input') })];
}

function checkCacheControls({ body, hasFrame }: ResponsesRequest): readonly Finding[] {
  const hasBoth =
    isGiven(read(body, 'prompt_cache_options')) && isGiven(read(body, 'prompt_cache_retention'));
  if (!hasFrame || !hasBoth) return [];
  return [report('R9', { place: [], path: 'prompt_cache_retention', message: R9.wording() })];
}

function checkItem(item: unknown, index: number): readonly Finding[] {
  const path = `input[${index}]`;
  if (!isObject(item)) {
    return [report('R0', { place: [index], path, message: R0.wording.type(path, 'an object', item) })];
  }
  const type = itemType(item);
  if (type === undefined) return [reportMissing(index, 'type')];
  return needCallId.has(type) && readText(item, 'call_id') === undefined
    ? [reportMissing(index, 'call_id')]
    : [];
}

function reportMissing(index: number, field: string): Finding {
  const path = `input[${index}].${field}`;
  return report('R0', { place: [index], path, message: R0.wording.missing(path) });
}

function reportTrigger(index: number): Finding {
  const path = `input[${index}]`;
  return report('R10', { place: [index], path, message: R10.wording(path) });
}
