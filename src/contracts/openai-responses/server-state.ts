import type { SealVerdict } from '../contract.ts';
import { type Finding, report } from '../finding.ts';
import { isGiven, read, readText } from '../json-value.ts';
import { itemType } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { responsesRules } from './rules.ts';

const { previousResponseNotFound, encryptedContentInvalid, storedItemNotFound } = responsesRules;

/** What only the server, or something that plays it, can know. Silent where the context does not tell. */
export function checkServerState(request: ResponsesRequest): readonly Finding[] {
  return [...checkPrevious(request), ...checkStoredItems(request), ...checkSeals(request)];
}

function checkPrevious({ body, hasFrame, context }: ResponsesRequest): readonly Finding[] {
  const id = readText(body, 'previous_response_id');
  if (!hasFrame || id === undefined || context.stored === undefined || context.stored(id)) return [];
  return [
    report(previousResponseNotFound, {
      place: [],
      path: 'previous_response_id',
      message: previousResponseNotFound.wording(id),
    }),
  ];
}

function checkStoredItems({ items, context: { stored } }: ResponsesRequest): readonly Finding[] {
  if (stored === undefined) return [];
  return items.flatMap((item, index) => {
    const id = readText(item, 'id');
    if (id === undefined || !standsForStored(item) || stored(id)) return [];
    return [
      report(storedItemNotFound, {
        place: [index],
        path: `input[${index}]`,
        message: storedItemNotFound.wording(id),
      }),
    ];
  });
}

/** References, and thoughts without the encrypted content that would make them readable on their own. */
function standsForStored(item: unknown): boolean {
  const type = itemType(item);
  return type === 'item_reference' || (type === 'reasoning' && !isGiven(read(item, 'encrypted_content')));
}

const sealKinds = new Map<string, 'reasoning' | 'compaction'>([
  ['reasoning', 'reasoning'],
  ['compaction', 'compaction'],
]);

/** Thoughts that stood before an item may be taken out: each seal is checked by itself. */
const acceptedVerdicts = new Set<SealVerdict>(['valid', 'gap']);

function checkSeals({ items, body, context: { seals } }: ResponsesRequest): readonly Finding[] {
  if (seals === undefined) return [];
  return items.flatMap((item, index) => {
    const kind = sealKinds.get(itemType(item) ?? '');
    const content = readText(item, 'encrypted_content');
    const path = `input[${index}]`;
    if (kind === undefined || content === undefined) return [];
    if (acceptedVerdicts.has(seals({ kind, value: item, path, body }))) return [];
    const message = encryptedContentInvalid.wording(content);
    return [report(encryptedContentInvalid, { place: [index], path: `${path}.encrypted_content`, message })];
  });
}
