import { type Finding, report } from '../finding.ts';
import { isGiven, isObject, read, readText } from '../json-value.ts';
import { itemType } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { responsesRules } from './rules.ts';

const { wrongKindOfValue, missingField, conflictingCacheControls, compactionTriggerNotLast } = responsesRules;

/** What the input may be left out for. */
const inputStandIns = ['previous_response_id', 'conversation', 'prompt'];

/** Items that cannot be paired without a `call_id`. Hosted searches carry null there. */
const needCallId = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

/** Kinds of values, presence, and what may not stand together. */
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
    const message = wrongKindOfValue.wording('input', 'one of a string or array of objects', input);
    return [report(wrongKindOfValue, { ...fault, message })];
  }
  if (inputStandIns.some((field) => isGiven(read(body, field)))) return [];
  return [report(missingField, { ...fault, message: missingField.wording('input') })];
}

function checkCacheControls({ body, hasFrame }: ResponsesRequest): readonly Finding[] {
  const hasBoth =
    isGiven(read(body, 'prompt_cache_options')) && isGiven(read(body, 'prompt_cache_retention'));
  if (!hasFrame || !hasBoth) return [];
  return [
    report(conflictingCacheControls, {
      place: [],
      path: 'prompt_cache_retention',
      message: conflictingCacheControls.wording(),
    }),
  ];
}

function checkItem(item: unknown, index: number): readonly Finding[] {
  const path = `input[${index}]`;
  if (!isObject(item)) {
    return [
      report(wrongKindOfValue, {
        place: [index],
        path,
        message: wrongKindOfValue.wording(path, 'an object', item),
      }),
    ];
  }
  const type = itemType(item);
  if (type === undefined) return [reportMissing(index, 'type')];
  return needCallId.has(type) && readText(item, 'call_id') === undefined
    ? [reportMissing(index, 'call_id')]
    : [];
}

function reportMissing(index: number, field: string): Finding {
  const path = `input[${index}].${field}`;
  return report(missingField, { place: [index], path, message: missingField.wording(path) });
}

function reportTrigger(index: number): Finding {
  const path = `input[${index}]`;
  return report(compactionTriggerNotLast, {
    place: [index],
    path,
    message: compactionTriggerNotLast.wording(path),
  });
}
