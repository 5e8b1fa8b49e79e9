import type { Violation } from '../contract.ts';
import { isGiven, isObject, read, readList } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { type Block, type Request, readTypedList } from './request.ts';
import { checkKind, checkTag, valueRules } from './values.ts';

const rules = defineRules({
  'too-many-cache-breakpoints': {
    alias: 'A32',
    title: 'at most 4 cache breakpoints',
    fix: 'Remove breakpoints; automatic caching counts as one.',
    evidence: 'reported',
    wording: (_path: string, found: number) =>
      `A maximum of 4 blocks with cache_control may be provided. Found ${found}.`,
  },
  'cache-breakpoints-out-of-order': {
    alias: 'A47',
    title: '1 h breakpoints before 5 m ones',
    fix: 'Put the 1 h breakpoints first, in the order tools, system, messages.',
    evidence: 'reported',
    wording: (path: string) =>
      `${path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
  },
});

const maxBreakpoints = 4;
const uncachable: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);

interface Breakpoint {
  readonly path: string;
  readonly control: unknown;
}

/** Cache breakpoints: their shape, where none may stand, how many, in which order. */
export const anthropicCaching: RuleGroup<Request> = { rules, check: checkCaching };

function checkCaching(request: Request): readonly Violation[] {
  const breakpoints = breakpointsOf(request);
  const isAutomatic = request.isWhole && isGiven(read(request.body, 'cache_control'));
  const controls = isAutomatic
    ? [...breakpoints, { path: 'cache_control', control: read(request.body, 'cache_control') }]
    : breakpoints;
  return [
    ...controls.flatMap(checkControl),
    ...request.messages.flatMap(({ blocks }) => blocks.flatMap(checkCachable)),
    ...checkCount(breakpoints, isAutomatic),
    ...checkOrder(breakpoints),
  ];
}

/** Breakpoints on tools, system blocks and message blocks, in the order the API processes them. */
function breakpointsOf({ body, messages, isWhole }: Request): Breakpoint[] {
  const tools = readList(body, 'tools').map((value, index) => ({ path: `tools.${index}`, value }));
  const frame = isWhole ? [...tools, ...readTypedList(read(body, 'system'), 'system')] : [];
  return [...frame.flatMap(breakpointOn), ...messages.flatMap(({ blocks }) => blocks.flatMap(breakpointsIn))];
}

function breakpointsIn(block: Block): readonly Breakpoint[] {
  if (uncachable.has(block.type)) return [];
  const parts = block.type === 'tool_result' ? read(block.value, 'content') : undefined;
  if (!Array.isArray(parts)) return breakpointOn(block);
  return [...readTypedList(parts, `${block.path}.content`).flatMap(breakpointOn), ...breakpointOn(block)];
}

function breakpointOn({ path, value }: { path: string; value: unknown }): readonly Breakpoint[] {
  const control = read(value, 'cache_control');
  return control === undefined || control === null ? [] : [{ path: `${path}.cache_control`, control }];
}

function checkControl({ path, control }: Breakpoint): readonly Violation[] {
  if (!isObject(control)) return checkKind(control, 'object', path);
  const ttl = read(control, 'ttl');
  const isKnown = ttl === undefined || ttl === null || ttl === '5m' || ttl === '1h';
  return [
    ...checkTag(control, ['ephemeral'], path),
    ...(isKnown ? [] : [report(valueRules['wrong-kind-of-value'], `${path}.ephemeral.ttl`, "'5m' or '1h'")]),
  ];
}

function checkCachable({ type, path, value }: Block): Violation[] {
  const isRefused = uncachable.has(type) && isGiven(read(value, 'cache_control'));
  return isRefused ? [report(valueRules['unknown-field'], `${path}.${type}.cache_control`)] : [];
}

function checkCount(breakpoints: readonly Breakpoint[], isAutomatic: boolean): Violation[] {
  const slots = isAutomatic ? maxBreakpoints - 1 : maxBreakpoints;
  const excess = breakpoints[slots];
  return excess === undefined
    ? []
    : [report(rules['too-many-cache-breakpoints'], excess.path, breakpoints.length + (isAutomatic ? 1 : 0))];
}

function checkOrder(breakpoints: readonly Breakpoint[]): Violation[] {
  const firstShort = breakpoints.findIndex(
    ({ control }) => isObject(control) && read(control, 'ttl') !== '1h',
  );
  if (firstShort === -1) return [];
  return breakpoints
    .slice(firstShort)
    .filter(({ control }) => read(control, 'ttl') === '1h')
    .map(({ path }) => report(rules['cache-breakpoints-out-of-order'], `${path}.ttl`));
}
