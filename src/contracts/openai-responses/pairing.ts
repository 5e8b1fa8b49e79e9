import type { Violation } from '../contract.ts';
import { read, readText } from '../json-value.ts';
import { isOpenai } from '../openai-chat/request.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { callIds, isFromClient, itemKind, itemType, type ResponsesRequest } from './request.ts';

const pairingRules = defineRules({
  'tool-call-without-result': {
    alias: 'R3',
    title: 'every call is answered',
    fix: 'Send the output of the call, or remove the call.',
    evidence: 'reported',
    wording: (_path: string, id: string, kind: string, vendor: string | undefined) =>
      `No tool output found for ${vendor === 'deepseek' ? 'tool call' : kind} ${id}.`,
  },
  'tool-result-without-call': {
    alias: 'R4',
    title: 'every output answers a call that stands before it',
    fix: 'Send the call before its output, or remove the output.',
    evidence: 'reported',
    wording: (_path: string, id: string, kind: string, vendor: string | undefined) =>
      `No tool call found for ${vendor === 'deepseek' ? 'tool output' : kind} with call_id ${id}.`,
  },
});

/**
 * Calls and outputs pair by `call_id`, wherever the output stands behind its call. DeepSeek also wants
 * nothing between a batch of calls and its outputs. History that only the server knows may hold the other half,
 * so nothing is reported then.
 */
export const responsesPairing: RuleGroup<ResponsesRequest> = {
  rules: pairingRules,
  check: (request) => (request.hidesHistory ? [] : [...checkCalls(request), ...checkOutputs(request)]),
};

function answeredAnywhere(items: readonly unknown[]): ReadonlySet<string> {
  return new Set(items.flatMap((item) => (isOutput(item) ? callIds(item) : [])));
}

function answeredAdjacently(items: readonly unknown[]): ReadonlySet<string> {
  const answered = new Set<string>();
  let batch = new Set<string>();
  let isAnswering = false;
  for (const item of items) {
    if (isOutput(item)) {
      isAnswering = true;
      for (const id of callIds(item)) if (batch.has(id)) answered.add(id);
      continue;
    }
    if (isAnswering || !isCall(item)) batch = new Set();
    isAnswering = false;
    if (isCall(item)) for (const id of callIds(item)) batch.add(id);
  }
  return answered;
}

function checkCalls({ items, vendor }: ResponsesRequest): readonly Violation[] {
  const answered = vendor === 'deepseek' ? answeredAdjacently(items) : answeredAnywhere(items);
  return items.flatMap((item, index) => {
    const ids = callIds(item);
    const [id] = ids;
    const { call = '' } = itemKind(item);
    if (id === undefined || !awaitsOutput(item) || ids.some((each) => answered.has(each))) return [];
    return [report(pairingRules['tool-call-without-result'], `input[${index}]`, id, call, vendor)];
  });
}

function checkOutputs({ items, vendor }: ResponsesRequest): readonly Violation[] {
  const called = new Set<string>();
  return items.flatMap((item, index) => {
    const ids = callIds(item);
    if (isCall(item)) for (const each of ids) called.add(each);
    const [id] = ids;
    const { output } = itemKind(item);
    if (id === undefined || output === undefined || ids.some((each) => called.has(each))) return [];
    return [report(pairingRules['tool-result-without-call'], `input[${index}]`, id, output, vendor)];
  });
}

function isCall(item: unknown): boolean {
  return itemKind(item).call !== undefined;
}

function isOutput(item: unknown): boolean {
  return itemKind(item).output !== undefined;
}

/** Calls that the server runs itself, and asynchronous ones, stand without an output. */
function awaitsOutput(item: unknown): boolean {
  return isCall(item) && read(item, 'execution') !== 'server' && read(item, 'async') !== true;
}

/**
 * Families that think before everything they write. Later ones, from GPT-5.1 on, may answer without a thought, and
 * then their items are accepted alone: whether a reasoning item is missing cannot be seen in the body.
 */
const alwaysReasoning = ['o1', 'o3', 'o4-mini', 'gpt-5'];

/** Variants of these families that do not think. */
const neverReasoning = ['gpt-5-chat'];

const reasoningRules = defineRules({
  'item-without-reasoning': {
    alias: 'R1',
    title: 'an item the model wrote after thinking comes with its reasoning item',
    fix: 'Send the reasoning item directly before it, or remove the id of this item.',
    evidence: 'reported',
    wording: (_path: string, id: string, type: string) =>
      `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: 'rs_…'.`,
  },
  'reasoning-without-following-item': {
    alias: 'R2',
    title: 'a reasoning item comes with the item that followed it',
    fix: 'Send the item that followed it, with its id, directly behind it, or remove the reasoning item.',
    evidence: 'reported',
    wording: (_path: string, id: string) =>
      `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  },
});

/**
 * Reasoning items and their followers come in pairs, as long as they carry the ids the server gave them.
 * Items without ids are free, and so is history that only the server knows.
 */
export const responsesReasoning: RuleGroup<ResponsesRequest> = {
  rules: reasoningRules,
  check: (request) =>
    isOpenai(request.vendor) ? [...checkFollowers(request), ...checkThoughts(request)] : [],
};

/** A seal verifier that answers `gap` for an item knows that its reasoning was taken out; else the model decides. */
function checkFollowers({
  items,
  body,
  model,
  hidesHistory,
  context,
}: ResponsesRequest): readonly Violation[] {
  const { seals } = context;
  if (hidesHistory || (seals === undefined && !reasonsAlways(model))) return [];
  let isExplained = false;
  return items.flatMap((item, index) => {
    if (isFromClient(item)) isExplained = false;
    else if (itemKind(item).followsReasoning !== true) isExplained = true;
    const id = followerId(item);
    if (id === undefined) return [];
    const path = `input[${index}]`;
    const isMissing =
      seals === undefined ? !isExplained : seals({ kind: 'reasoning', value: item, path, body }) === 'gap';
    if (!isMissing) return [];
    // One lost thought explains every item up to the next message or output.
    isExplained = true;
    return [report(reasoningRules['item-without-reasoning'], path, id, itemType(item) ?? '')];
  });
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

function checkThoughts({ items }: ResponsesRequest): readonly Violation[] {
  return items.flatMap((item, index) => {
    const id = itemType(item) === 'reasoning' ? readText(item, 'id') : undefined;
    if (!id?.startsWith('rs_') || isFollower(items[index + 1])) return [];
    return [report(reasoningRules['reasoning-without-following-item'], `input[${index}]`, id)];
  });
}

/** The server looks for the item it sent itself, so a follower without an id is none (recorded for messages). */
function isFollower(item: unknown): boolean {
  return !isFromClient(item) && readText(item, 'id') !== undefined;
}
