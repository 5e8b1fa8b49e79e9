import type { CheckContext, Violation } from '../contract.ts';
import { isGiven, isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import type { Request } from './request.ts';
import { checkKind, checkOptional, checkRequired, checkTag, type Kind, valueRules } from './values.ts';

const rules = defineRules({
  'forced-tool-choice-unsupported': {
    alias: 'A29',
    title: 'a tool choice is forced only where the model takes that',
    fix: 'Use `tool_choice` of type `auto` or `none` with this model.',
    evidence: 'documented',
    wording: () => 'tool_choice: type "tool" and "any" are not supported for this model.',
  },
  'output-limit-too-high': {
    alias: 'A34',
    title: 'the output limit is one the model has',
    fix: 'Lower `max_tokens`.',
    evidence: 'reported',
    wording: (path: string, wanted: number, limit: number, model: string) =>
      `${path}: ${wanted} > ${limit}, which is the maximum allowed number of output tokens for ${model}`,
  },
  'unsupported-parameter': {
    alias: 'A36',
    title: 'the model or API version takes the parameter',
    fix: 'Remove the parameter.',
    evidence: 'documented',
    wording: (path: string, reason: string) => `${path}: not supported ${reason}`,
  },
});

/** Every field of a request and what it holds. Optional ones may be null. */
const fields: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['model', 'string'],
  ['max_tokens', 'integer'],
  ['messages', 'anything'],
  ['system', 'text or list'],
  ['tools', 'list'],
  ['tool_choice', 'object'],
  ['thinking', 'object'],
  ['output_config', 'object'],
  ['output_format', 'object'],
  ['stop_sequences', 'list'],
  ['stream', 'boolean'],
  ['temperature', 'anything'],
  ['top_p', 'anything'],
  ['top_k', 'anything'],
  ['metadata', 'object'],
  ['cache_control', 'object'],
  ['container', 'anything'],
  ['service_tier', 'string'],
  ['inference_geo', 'string'],
  ['speed', 'string'],
  ['diagnostics', 'object'],
  ['context_management', 'object'],
  ['compaction', 'object'],
  ['thread', 'anything'],
  ['mcp_servers', 'list'],
  ['fallbacks', 'anything'],
  // Bedrock and Vertex carry the headers in the body.
  ['anthropic_version', 'string'],
  ['anthropic_beta', 'list'],
]);

/** Fields that only an answer needs. `/v1/messages/count_tokens` does not know them. */
const answerFields: ReadonlySet<string> = new Set([
  'max_tokens',
  'metadata',
  'service_tier',
  'stop_sequences',
  'stream',
  'temperature',
  'top_k',
  'top_p',
]);

const toolChoices = ['auto', 'any', 'tool', 'none'];

/** From this `anthropic-version` on, sampling parameters and some blocks are refused. Versions are dates. */
const strictVersion = '2026-10-21';

/** Whether the request is held to the API version of 2026-10-21. */
export function isStrictVersion({ context }: Request): boolean {
  return context.apiVersion !== undefined && context.apiVersion >= strictVersion;
}

/** Fields outside `messages`: known, there, of the right kind, and what the model takes. */
export const anthropicFrame: RuleGroup<Request> = {
  rules,
  check: (request) =>
    request.isWhole
      ? [
          ...checkFields(request),
          ...checkToolChoice(request),
          ...checkSystem(request.body),
          ...checkSampling(request),
          ...checkOutputLimit(request),
        ]
      : [],
};

function checkFields(request: Request): Violation[] {
  const { body, context } = request;
  // The model stands in the URL on Bedrock and Vertex.
  const isModelElsewhere = context.model !== undefined || isGiven(read(body, 'anthropic_version'));
  return [
    ...(isModelElsewhere ? [] : checkRequired(body, 'model', 'string', 'model')),
    ...checkLimitGiven(request),
    ...Object.keys(body).flatMap((name) => checkField(name, request)),
  ];
}

/** An answer needs a limit, and a count takes none. A body that may be for either endpoint is worth a word, no more. */
function checkLimitGiven({ body, context }: Request): readonly Violation[] {
  if (context.endpoint === 'count-tokens') return [];
  const faults = checkRequired(body, 'max_tokens', 'integer', 'max_tokens');
  const mayBeCounted =
    context.endpoint === undefined && Object.keys(body).every((name) => !answerFields.has(name));
  return mayBeCounted ? faults.map(toHint) : faults;
}

function toHint(fault: Violation): Violation {
  return {
    ...fault,
    severity: 'info',
    message: `${fault.message} by /v1/messages, and not taken by /v1/messages/count_tokens`,
    fix: 'Add `max_tokens` if the request is for /v1/messages; a request to count tokens is fine as it is.',
  };
}

function checkField(name: string, { body, context }: Request): readonly Violation[] {
  const kind = fields.get(name);
  const isRefused = context.endpoint === 'count-tokens' && answerFields.has(name);
  if (kind === undefined || isRefused) return [report(valueRules['unknown-field'], name)];
  return name === 'model' || name === 'max_tokens' ? [] : checkOptional(body, name, kind, name);
}

function checkToolChoice({ body, facts }: Request): readonly Violation[] {
  const choice = read(body, 'tool_choice');
  if (!isObject(choice)) return [];
  const type = readText(choice, 'type');
  if (type !== 'tool' && type !== 'any') return checkTag(choice, toolChoices, 'tool_choice');
  return [
    ...(type === 'tool' ? checkRequired(choice, 'name', 'string', 'tool_choice.tool.name') : []),
    ...(facts.takesForcedToolChoice ? [] : [report(rules['forced-tool-choice-unsupported'], 'tool_choice')]),
  ];
}

function checkSystem(body: JsonObject): Violation[] {
  const system = read(body, 'system');
  if (!Array.isArray(system)) return [];
  return system.flatMap((block: unknown, index) => {
    const path = `system.${index}`;
    if (!isObject(block)) return checkKind(block, 'object', path);
    const tagFaults = checkTag(block, ['text'], path);
    return tagFaults.length > 0 ? tagFaults : checkRequired(block, 'text', 'string', `${path}.text`);
  });
}

function checkSampling(request: Request): Violation[] {
  const { body, facts } = request;
  const given = ['temperature', 'top_p', 'top_k'].filter((name) => isGiven(read(body, name)));
  if (isStrictVersion(request)) {
    return given.map((name) =>
      report(rules['unsupported-parameter'], name, `with API version ${request.context.apiVersion}`),
    );
  }
  if (facts.takesSampling) return [];
  return given
    .filter((name) => !isNeutral(name, read(body, name)))
    .map((name) => report(rules['unsupported-parameter'], name, 'for this model'));
}

/** Values that newer models still accept under the old API version. */
function isNeutral(name: string, value: unknown): boolean {
  return (
    (name === 'temperature' && value === 1) ||
    (name === 'top_p' && typeof value === 'number' && value >= 0.99)
  );
}

function checkOutputLimit({ body, facts, model, context }: Request): Violation[] {
  const wanted = read(body, 'max_tokens');
  if (typeof wanted !== 'number' || wanted <= facts.maxOutputTokens) return [];
  // `output-128k-…` and `output-300k-…` raise the limit; which one is on is known only from the headers.
  if (context.betas !== undefined && hasBeta(context, 'output-')) return [];
  return [report(rules['output-limit-too-high'], 'max_tokens', wanted, facts.maxOutputTokens, model ?? '')];
}

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
export const anthropicBetas: RuleGroup<Request> = {
  rules: {},
  check: (request) =>
    request.context.betas === undefined ? [] : [...checkBodyFields(request), ...checkBlocks(request)],
};

function checkBodyFields({ body, context, isWhole }: Request): Violation[] {
  if (!isWhole) return [];
  const violations = bodyFields
    .filter(({ name, betas }) => isUsed(body, name) && !hasBeta(context, ...betas))
    .map(({ name }) => report(valueRules['unknown-field'], name));
  if (isUsed(read(body, 'thinking'), 'block_binding') && !hasBindingControls(context)) {
    violations.push(report(valueRules['unknown-field'], 'thinking.block_binding'));
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
      ? [report(valueRules['unknown-type'], `context_management.edits.${index}`, type ?? '', offered)]
      : [];
  });
}

function checkBlocks({ messages, context }: Request): Violation[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap(({ type, path }) => {
      const betas = blockTypes.get(type);
      const isLocked = betas !== undefined && !hasBeta(context, ...betas);
      return isLocked ? [report(valueRules['unknown-type'], path, type, plainBlockTypes)] : [];
    }),
  );
}

/** A field that is null counts as sent: the API refuses even that without the header. */
function isUsed(owner: unknown, name: string): boolean {
  return read(owner, name) !== undefined;
}
