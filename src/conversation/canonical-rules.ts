import type { JsonObject } from './json.ts';
import type { VolatileParts } from './volatile.ts';

/** What a wire format writes in several ways that mean exactly the same, and what in it is volatile. */
export interface CanonicalRules {
  /** Keys that lead from a message to its blocks and from there to blocks inside. Whatever stands under others is data. */
  readonly structure: ReadonlySet<string>;
  /** Type of the block that a plain string under a structural key is short for; undefined where it is no short form. */
  textBlockFor(owner: JsonObject, key: string): string | undefined;
  /** Fields that may say nothing. */
  readonly mayBeEmpty: ReadonlySet<string>;
  /** Whether such a field says nothing that a missing one does not say. */
  saysNothing(key: string, value: unknown, owner: JsonObject): boolean;
  readonly volatile: VolatileParts;
}

const CACHE_MARKERS: VolatileParts = {
  anywhere: ['cache_control', 'prompt_cache_breakpoint'],
  ofMessages: [],
};

const AI_SDK_MARKERS: VolatileParts = {
  anywhere: [
    'providerOptions',
    'providerMetadata',
    'callProviderMetadata',
    'experimental_providerMetadata',
  ].flatMap((key) => ['cacheControl', 'cache_control', 'cachePoint'].map((marker) => `${key}.*.${marker}`)),
  ofMessages: [],
};

const isNull = (value: unknown) => value === null;
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Fields that providers answer with when there is nothing to say, and that many clients send back. */
const NULLS_OF_ANSWERS = new Set([
  'refusal',
  'audio',
  'function_call',
  'tool_calls',
  'annotations',
  'content',
  'name',
]);

const anthropic: CanonicalRules = {
  structure: new Set(['content', 'source']),
  textBlockFor: (owner, key) =>
    key === 'content' && (owner['role'] !== undefined || owner['type'] === 'tool_result')
      ? 'text'
      : undefined,
  mayBeEmpty: new Set(['is_error', 'citations']),
  saysNothing: (key, value, owner) =>
    (key === 'is_error' && value === false && owner['type'] === 'tool_result') ||
    (key === 'citations' && isNull(value) && owner['type'] === 'text'),
  volatile: CACHE_MARKERS,
};

const openaiChat: CanonicalRules = {
  structure: new Set(['content']),
  textBlockFor: (owner) => (owner['role'] === undefined ? undefined : 'text'),
  mayBeEmpty: NULLS_OF_ANSWERS,
  saysNothing: (key, value, owner) =>
    owner['role'] !== undefined &&
    (isNull(value) ||
      (key === 'annotations' && isEmptyList(value)) ||
      // An answer of calls alone: some clients write no content, some an empty one.
      (key === 'content' && value === '' && Array.isArray(owner['tool_calls']))),
  volatile: CACHE_MARKERS,
};

const openaiResponses: CanonicalRules = {
  structure: new Set(['content', 'output']),
  textBlockFor: (owner, key) => {
    if (key === 'content' && owner['role'] !== undefined)
      return owner['role'] === 'assistant' ? 'output_text' : 'input_text';
    return key === 'output' && owner['type'] === 'function_call_output' ? 'input_text' : undefined;
  },
  mayBeEmpty: new Set(['type', 'annotations', 'logprobs']),
  saysNothing: (key, value, owner) =>
    (key === 'type' && value === 'message' && owner['role'] !== undefined) ||
    ((key === 'annotations' || key === 'logprobs') && isEmptyList(value) && owner['type'] === 'output_text'),
  volatile: CACHE_MARKERS,
};

const gemini: CanonicalRules = {
  structure: new Set(['parts']),
  textBlockFor: () => undefined,
  mayBeEmpty: new Set(['role']),
  saysNothing: (key, value, owner) => key === 'role' && value === 'user' && owner['parts'] !== undefined,
  volatile: { anywhere: [], ofMessages: [] },
};

const aiSdkModel: CanonicalRules = {
  structure: new Set(['content']),
  textBlockFor: (owner) => (owner['role'] === 'user' || owner['role'] === 'assistant' ? 'text' : undefined),
  mayBeEmpty: new Set(),
  saysNothing: () => false,
  volatile: AI_SDK_MARKERS,
};

const aiSdkUi: CanonicalRules = {
  structure: new Set(['parts']),
  textBlockFor: () => undefined,
  mayBeEmpty: new Set(),
  saysNothing: () => false,
  volatile: AI_SDK_MARKERS,
};

const langchain: CanonicalRules = {
  structure: new Set(['content', 'kwargs', 'data']),
  textBlockFor: () => 'text',
  mayBeEmpty: new Set(),
  saysNothing: () => false,
  volatile: CACHE_MARKERS,
};

/** One row for each wire format. */
const rulesByFormat: ReadonlyMap<string, CanonicalRules> = new Map([
  ['anthropic-messages', anthropic],
  ['openai-chat', openaiChat],
  ['openai-responses', openaiResponses],
  ['gemini', gemini],
  ['ai-sdk-model', aiSdkModel],
  ['ai-sdk-ui', aiSdkUi],
  ['langchain', langchain],
]);

/** Of a format that nobody knows, and of data: every field counts as it is written. */
export const strictRules: CanonicalRules = {
  structure: new Set(),
  textBlockFor: () => undefined,
  mayBeEmpty: new Set(),
  saysNothing: () => false,
  volatile: { anywhere: [], ofMessages: [] },
};

/** The rules of the wire format of that name. */
export function canonicalRulesOf(format: string): CanonicalRules {
  return rulesByFormat.get(format) ?? strictRules;
}
