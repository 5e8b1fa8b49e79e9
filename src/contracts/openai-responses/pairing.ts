import { type Finding, report } from '../finding.ts';
import { read } from '../json-value.ts';
import { callIds, itemKind } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { responsesRules } from './rules.ts';

const { toolCallWithoutResult, toolResultWithoutCall } = responsesRules;

/**
 * Calls and outputs pair by `call_id`, wherever the output stands behind its call. DeepSeek also wants
 * nothing between a batch of calls and its outputs. History that only the server knows may hold the other half,
 * so nothing is reported then.
 */
export function checkPairing(request: ResponsesRequest): readonly Finding[] {
  if (request.hidesHistory) return [];
  const { items, vendor } = request;
  const answered = vendor === 'deepseek' ? answeredAdjacently(items) : answeredAnywhere(items);
  return [...checkCalls(items, answered, vendor), ...checkOutputs(items, vendor)];
}

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

function checkCalls(
  items: readonly unknown[],
  answered: ReadonlySet<string>,
  vendor: string | undefined,
): readonly Finding[] {
  return items.flatMap((item, index) => {
    const ids = callIds(item);
    const [id] = ids;
    const { call = '' } = itemKind(item);
    if (id === undefined || !awaitsOutput(item) || ids.some((each) => answered.has(each))) return [];
    const message =
      vendor === 'deepseek'
        ? toolCallWithoutResult.wording.deepseek(id)
        : toolCallWithoutResult.wording.openai(id, call);
    return [report(toolCallWithoutResult, { place: [index], path: `input[${index}]`, message })];
  });
}

function checkOutputs(items: readonly unknown[], vendor: string | undefined): readonly Finding[] {
  const called = new Set<string>();
  const findings: Finding[] = [];
  for (const [index, item] of items.entries()) {
    const ids = callIds(item);
    if (isCall(item)) for (const each of ids) called.add(each);
    const [id] = ids;
    const { output } = itemKind(item);
    if (id === undefined || output === undefined || ids.some((each) => called.has(each))) continue;
    const message =
      vendor === 'deepseek'
        ? toolResultWithoutCall.wording.deepseek(id)
        : toolResultWithoutCall.wording.openai(id, output);
    findings.push(report(toolResultWithoutCall, { place: [index], path: `input[${index}]`, message }));
  }
  return findings;
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
