import { type Finding, report } from '../finding.ts';
import { readText } from '../json-value.ts';
import { isOpenai } from '../openai-chat/request.ts';
import { itemKind, itemType } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { responsesRules } from './rules.ts';

const { malformedItemId, duplicateItemId, toolCallIdTooLong } = responsesRules;

const maxCallIdLength = 64;

/** Ids as OpenAI gives them out. Compatible servers use ids of their own and are left alone. */
export function checkIds({ items, vendor }: ResponsesRequest): readonly Finding[] {
  if (!isOpenai(vendor)) return [];
  const seen = new Set<string>();
  const longIds = new Set<string>();
  return items.flatMap((item, index) => [
    ...checkPrefix(item, index),
    ...checkRepetition(item, index, seen),
    ...checkCallId(item, index, longIds),
  ]);
}

function checkPrefix(item: unknown, index: number): readonly Finding[] {
  const id = readText(item, 'id');
  const { idPrefix } = itemKind(item);
  if (id === undefined || idPrefix === undefined || id.startsWith(idPrefix)) return [];
  const path = `input[${index}].id`;
  return [
    report(malformedItemId, { place: [index], path, message: malformedItemId.wording(path, id, idPrefix) }),
  ];
}

function checkRepetition(item: unknown, index: number, seen: Set<string>): readonly Finding[] {
  const id = readText(item, 'id');
  // Answers of the older shell tool repeat the id of their call.
  if (id === undefined || itemType(item) === 'local_shell_call_output') return [];
  if (!seen.has(id)) {
    seen.add(id);
    return [];
  }
  return [
    report(duplicateItemId, {
      place: [index],
      path: `input[${index}]`,
      message: duplicateItemId.wording(id),
    }),
  ];
}

/** A long id is one fault, reported at the call; its output only repeats it. */
function checkCallId(item: unknown, index: number, longIds: Set<string>): readonly Finding[] {
  const id = readText(item, 'call_id');
  if (id === undefined || id.length <= maxCallIdLength || longIds.has(id)) return [];
  longIds.add(id);
  const path = `input[${index}].call_id`;
  return [
    report(toolCallIdTooLong, { place: [index], path, message: toolCallIdTooLong.wording(path, id.length) }),
  ];
}
