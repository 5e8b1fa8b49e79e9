import { type Finding, report } from '../finding.ts';
import { readText } from '../json-value.ts';
import { isOpenai } from '../openai-chat/request.ts';
import { isFromClient, itemKind, itemType } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { responsesRules } from './rules.ts';

const { itemWithoutReasoning, reasoningWithoutFollowingItem } = responsesRules;

/**
 * Families that think before everything they write. Later ones, from GPT-5.1 on, may answer without a thought, and
 * then their items are accepted alone: whether a reasoning item is missing cannot be seen in the body.
 */
const alwaysReasoning = ['o1', 'o3', 'o4-mini', 'gpt-5'];

/** Variants of these families that do not think. */
const neverReasoning = ['gpt-5-chat'];

/**
 * Reasoning items and their followers come in pairs, as long as they carry the ids the server gave them.
 * Items without ids are free, and so is history that only the server knows.
 */
export function checkReasoning(request: ResponsesRequest): readonly Finding[] {
  if (!isOpenai(request.vendor)) return [];
  return [...checkFollowers(request), ...checkThoughts(request)];
}

/** A seal verifier that answers `gap` for an item knows that its reasoning was taken out; else the model decides. */
function checkFollowers({ items, body, model, hidesHistory, context }: ResponsesRequest): readonly Finding[] {
  const { seals } = context;
  if (hidesHistory || (seals === undefined && !reasonsAlways(model))) return [];
  const findings: Finding[] = [];
  let isExplained = false;
  for (const [index, item] of items.entries()) {
    if (isFromClient(item)) isExplained = false;
    else if (itemKind(item).followsReasoning !== true) isExplained = true;
    const id = followerId(item);
    if (id === undefined) continue;
    const path = `input[${index}]`;
    const isMissing =
      seals === undefined ? !isExplained : seals({ kind: 'reasoning', value: item, path, body }) === 'gap';
    if (!isMissing) continue;
    // One lost thought explains every item up to the next message or output.
    isExplained = true;
    findings.push(
      report(itemWithoutReasoning, {
        place: [index],
        path,
        message: itemWithoutReasoning.wording(id, itemType(item) ?? ''),
      }),
    );
  }
  return findings;
}

function reasonsAlways(model: string | undefined): boolean {
  return isOfFamily(model, alwaysReasoning) && !isOfFamily(model, neverReasoning);
}

function isOfFamily(model = '', families: readonly string[]): boolean {
  return families.some((family) => model === family || model.startsWith(`${family}-`));
}

/** The id of an item that may require a thought; undefined for client items and for items without a server id. */
function followerId(item: unknown): string | undefined {
  const { followsReasoning, idPrefix } = itemKind(item);
  if (followsReasoning !== true || idPrefix === undefined || isFromClient(item)) return undefined;
  const id = readText(item, 'id');
  return id?.startsWith(`${idPrefix}_`) ? id : undefined;
}

function checkThoughts({ items }: ResponsesRequest): readonly Finding[] {
  return items.flatMap((item, index) => {
    const id = itemType(item) === 'reasoning' ? readText(item, 'id') : undefined;
    if (!id?.startsWith('rs_') || isFollower(items[index + 1])) return [];
    return [
      report(reasoningWithoutFollowingItem, {
        place: [index],
        path: `input[${index}]`,
        message: reasoningWithoutFollowingItem.wording(id),
      }),
    ];
  });
}

/** The server looks for the item it sent itself, so a follower without an id is none (recorded for messages). */
function isFollower(item: unknown): boolean {
  return !isFromClient(item) && readText(item, 'id') !== undefined;
}
