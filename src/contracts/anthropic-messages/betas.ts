import type { CheckContext, Violation } from '../contract.ts';
import { read, readList, readText } from '../json-value.ts';
import type { Check, Request } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

interface BetaRow {
  readonly name: string;
  /** Starts of the header values that unlock it; one of them is enough. */
  readonly betas: readonly string[];
}

const bindingControls = 'thinking-binding-controls-2026-08-01';
const thresholdCompaction = 'compact-2026-01-12';
const onDemandCompaction = 'compact-2026-09-04';
const contextEditing = 'context-management-2025-06-27';

const bodyFields: readonly BetaRow[] = [
  { name: 'compaction', betas: [onDemandCompaction] },
  { name: 'context_management', betas: [contextEditing, thresholdCompaction] },
  { name: 'mcp_servers', betas: ['mcp-client-'] },
];

const contextEdits: readonly BetaRow[] = [
  { name: 'compact_20260112', betas: [thresholdCompaction] },
  { name: 'clear_tool_uses_20250919', betas: [contextEditing] },
  { name: 'clear_thinking_20251015', betas: [contextEditing] },
];

const blockTypes: ReadonlyMap<string, readonly string[]> = new Map([
  ['compaction', [onDemandCompaction, thresholdCompaction]],
  ['mcp_tool_use', ['mcp-client-']],
  ['mcp_tool_result', ['mcp-client-']],
]);

/** Block types that need no beta header: what the API names when it meets another one. */
const plainBlockTypes = [
  'bash_code_execution_tool_result',
  'code_execution_tool_result',
  'container_upload',
  'document',
  'image',
  'redacted_thinking',
  'search_result',
  'server_tool_use',
  'text',
  'text_editor_code_execution_tool_result',
  'thinking',
  'tool_result',
  'tool_search_tool_result',
  'tool_use',
  'web_fetch_tool_result',
  'web_search_tool_result',
];

/** Whether a beta may be on: always when the headers are unknown. */
export function hasBeta(context: CheckContext, ...starts: readonly string[]): boolean {
  return context.betas?.some((beta) => starts.some((start) => beta.startsWith(start))) ?? true;
}

/** Whether the header that unlocks `thinking.block_binding` may have been sent. */
export function hasBindingControls(context: CheckContext): boolean {
  return hasBeta(context, bindingControls);
}

/** Fields and blocks that exist only behind a beta header. Says nothing when the headers are unknown. */
export const checkBetas: Check = (request) => {
  if (request.context.betas === undefined) return [];
  return [...checkFields(request), ...checkBlocks(request)];
};

function checkFields({ body, context, isWhole }: Request): Violation[] {
  if (!isWhole) return [];
  const violations = bodyFields
    .filter(({ name, betas }) => isUsed(body, name) && !hasBeta(context, ...betas))
    .map(({ name }) => report(rules.unknownField, name));
  if (isUsed(read(body, 'thinking'), 'block_binding') && !hasBindingControls(context)) {
    violations.push(report(rules.unknownField, 'thinking.block_binding'));
  }
  return hasBeta(context, contextEditing, thresholdCompaction)
    ? [...violations, ...checkEdits(body, context)]
    : violations;
}

function checkEdits(body: unknown, context: CheckContext): Violation[] {
  const offered = contextEdits.filter(({ betas }) => hasBeta(context, ...betas)).map(({ name }) => name);
  return readList(read(body, 'context_management'), 'edits').flatMap((edit, index) => {
    const type = readText(edit, 'type');
    const isLocked = contextEdits.some(({ name }) => name === type) && !offered.includes(type ?? '');
    return isLocked
      ? [report(rules.unknownType, `context_management.edits.${index}`, type ?? '', offered)]
      : [];
  });
}

function checkBlocks({ messages, context }: Request): Violation[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap(({ type, path }) => {
      const betas = blockTypes.get(type);
      const isLocked = betas !== undefined && !hasBeta(context, ...betas);
      return isLocked ? [report(rules.unknownType, path, type, plainBlockTypes)] : [];
    }),
  );
}

/** A field that is null counts as sent: the API refuses even that without the header. */
function isUsed(owner: unknown, name: string): boolean {
  return read(owner, name) !== undefined;
}
