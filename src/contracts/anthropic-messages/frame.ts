import type { Violation } from '../contract.ts';
import { isGiven, isObject, type JsonObject, read, readText } from '../json-value.ts';
import { hasBeta } from './betas.ts';
import { checkKind, checkOptional, checkRequired, checkTag, type Kind } from './kinds.ts';
import type { Check, Request } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

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
export const checkFrame: Check = (request) => [
  ...checkFields(request),
  ...checkToolChoice(request),
  ...checkSystem(request.body),
  ...checkSampling(request),
  ...checkOutputLimit(request),
];

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
  if (kind === undefined || isRefused) return [report(rules.unknownField, name)];
  return name === 'model' || name === 'max_tokens' ? [] : checkOptional(body, name, kind, name);
}

function checkToolChoice({ body, facts }: Request): readonly Violation[] {
  const choice = read(body, 'tool_choice');
  if (!isObject(choice)) return [];
  const type = readText(choice, 'type');
  if (type !== 'tool' && type !== 'any') return checkTag(choice, toolChoices, 'tool_choice');
  return [
    ...(type === 'tool' ? checkRequired(choice, 'name', 'string', 'tool_choice.tool.name') : []),
    ...(facts.takesForcedToolChoice ? [] : [report(rules.forcedToolChoiceUnsupported, 'tool_choice')]),
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
      report(rules.unsupportedParameter, name, `with API version ${request.context.apiVersion}`),
    );
  }
  if (facts.takesSampling) return [];
  return given
    .filter((name) => !isNeutral(name, read(body, name)))
    .map((name) => report(rules.unsupportedParameter, name, 'for this model'));
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
  return [report(rules.outputLimitTooHigh, 'max_tokens', wanted, facts.maxOutputTokens, model ?? '')];
}
