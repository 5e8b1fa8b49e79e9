import type { Violation } from '../contract.ts';
import { isGiven, isObject, read, readList } from '../json-value.ts';
import { checkKind, checkTag } from './kinds.ts';
import { type Block, type Check, type Request, readTypedList } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

const maxBreakpoints = 4;
const uncachable: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);

interface Breakpoint {
  readonly path: string;
  readonly control: unknown;
}

/** Cache breakpoints: their shape, where none may stand, how many, in which order. */
export const checkCaching: Check = (request) => {
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
};

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
    ...(isKnown ? [] : [report(rules.wrongKindOfValue, `${path}.ephemeral.ttl`, "'5m' or '1h'")]),
  ];
}

function checkCachable({ type, path, value }: Block): Violation[] {
  const isRefused = uncachable.has(type) && isGiven(read(value, 'cache_control'));
  return isRefused ? [report(rules.unknownField, `${path}.${type}.cache_control`)] : [];
}

function checkCount(breakpoints: readonly Breakpoint[], isAutomatic: boolean): Violation[] {
  const slots = isAutomatic ? maxBreakpoints - 1 : maxBreakpoints;
  const excess = breakpoints[slots];
  return excess === undefined
    ? []
    : [report(rules.tooManyCacheBreakpoints, excess.path, breakpoints.length + (isAutomatic ? 1 : 0))];
}

function checkOrder(breakpoints: readonly Breakpoint[]): Violation[] {
  const firstShort = breakpoints.findIndex(
    ({ control }) => isObject(control) && read(control, 'ttl') !== '1h',
  );
  if (firstShort === -1) return [];
  return breakpoints
    .slice(firstShort)
    .filter(({ control }) => read(control, 'ttl') === '1h')
    .map(({ path }) => report(rules.cacheBreakpointsOutOfOrder, `${path}.ttl`));
}
