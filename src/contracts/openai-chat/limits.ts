import type { Violation } from '../contract.ts';
import { asList, isGiven, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { type ChatRequest, isOpenai, readCalls } from './request.ts';

const maxTools = 128;
const maxCallIdLength = 40;
const maxTextLength = 10_485_760;
const maxNameLength = 64;
const namePattern = /^[a-zA-Z0-9_-]+$/;

const longList = (path: string, length: number) =>
  `Invalid '${path}': array too long. Expected an array with maximum length ${maxTools}, but got an array with length ${length} instead.`;

const longText = (path: string, limit: number, length: number) =>
  `Invalid '${path}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${length} instead.`;

const limitRules = defineRules({
  'too-many-tools': {
    alias: 'C4',
    title: 'at most 128 tools',
    fix: 'Offer fewer tools.',
    evidence: 'reported',
    wording: longList,
  },
  'too-many-tool-calls': {
    alias: 'C4',
    title: 'at most 128 calls in one message',
    fix: 'Leave whole rounds with so many calls out.',
    evidence: 'reported',
    wording: longList,
  },
  'tool-call-id-too-long': {
    alias: 'C5',
    title: 'call ids have at most 40 characters',
    fix: 'Map long call ids to shorter ones, in the call and in its answer.',
    evidence: 'reported',
    wording: (path: string, length: number) => longText(path, maxCallIdLength, length),
  },
  'text-too-long': {
    alias: 'C5',
    title: 'texts have at most 10,485,760 characters',
    fix: 'Shorten the text.',
    evidence: 'reported',
    wording: (path: string, length: number) => longText(path, maxTextLength, length),
  },
  'malformed-tool-name': {
    alias: 'C6',
    title: 'tool names are 1 to 64 letters, digits, underscores and hyphens',
    fix: 'Rename the tool, in its definition and in every call.',
    evidence: 'reported',
    wording: (path: string, name: string) =>
      name.length > maxNameLength
        ? longText(path, maxNameLength, name.length)
        : `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
  },
  'image-outside-user-message': {
    alias: 'C11',
    title: 'images stand in user messages only',
    fix: 'Move the image into a user message behind the tool messages, or replace it by a text.',
    evidence: 'reported',
    wording: (path: string, role: string) =>
      `Invalid '${path}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
  },
});

/** Sizes, names and the place of images. Only OpenAI's own limits are known, so other vendors are not held to them. */
export const chatLimits: RuleGroup<ChatRequest> = { rules: limitRules, check: checkLimits };

function checkLimits({ body, messages, hasFrame, vendor }: ChatRequest): readonly Violation[] {
  if (!isOpenai(vendor)) return [];
  const longIds = new Set<string>();
  return [
    ...(hasFrame ? checkTools(readList(body, 'tools')) : []),
    ...messages.flatMap((message, index) => {
      const path = `messages[${index}]`;
      return [
        ...checkTexts(message, `${path}.content`),
        ...checkImages(message, path),
        ...checkCalls(readCalls(message), `${path}.tool_calls`, longIds),
        ...checkCallId(readText(message, 'tool_call_id'), `${path}.tool_call_id`, longIds),
      ];
    }),
  ];
}

function checkTools(tools: readonly unknown[]): readonly Violation[] {
  return [
    ...(tools.length > maxTools ? [report(limitRules['too-many-tools'], 'tools', tools.length)] : []),
    ...tools.flatMap((tool, index) => checkName(tool, `tools[${index}]`)),
  ];
}

/** The name of a function, in its definition or in a call. */
function checkName(owner: unknown, path: string): readonly Violation[] {
  const name = readText(read(owner, 'function'), 'name');
  if (name === undefined || (name.length <= maxNameLength && namePattern.test(name))) return [];
  return [report(limitRules['malformed-tool-name'], `${path}.function.name`, name)];
}

function checkTexts(message: unknown, path: string): readonly Violation[] {
  const content = read(message, 'content');
  if (typeof content === 'string') return checkText(content, path);
  return asList(content).flatMap((part, position) =>
    checkText(readText(part, 'text') ?? '', `${path}[${position}].text`),
  );
}

function checkText(text: string, path: string): readonly Violation[] {
  return text.length > maxTextLength ? [report(limitRules['text-too-long'], path, text.length)] : [];
}

function checkImages(message: unknown, path: string): readonly Violation[] {
  const role = readText(message, 'role');
  if (role === undefined || role === 'user') return [];
  const hasImage = readList(message, 'content').some((part) => read(part, 'type') === 'image_url');
  return hasImage ? [report(limitRules['image-outside-user-message'], path, role)] : [];
}

function checkCalls(calls: readonly unknown[], path: string, longIds: Set<string>): readonly Violation[] {
  return [
    ...(calls.length > maxTools ? [report(limitRules['too-many-tool-calls'], path, calls.length)] : []),
    ...calls.flatMap((call, position) => [
      ...checkCallId(readText(call, 'id'), `${path}[${position}].id`, longIds),
      ...checkName(call, `${path}[${position}]`),
    ]),
  ];
}

/** A long id is one fault, reported at the call; its answer only repeats it. */
function checkCallId(id: string | undefined, path: string, longIds: Set<string>): readonly Violation[] {
  if (id === undefined || id.length <= maxCallIdLength || longIds.has(id)) return [];
  longIds.add(id);
  return [report(limitRules['tool-call-id-too-long'], path, id.length)];
}

interface ModelFamily {
  readonly name: string;
  /** Most tokens one answer may have. */
  readonly maxOutputTokens: number;
  /** Whether `max_tokens` is refused in favour of `max_completion_tokens`. */
  readonly reasons?: true;
  /** Whether `temperature` is refused unless it has its default. */
  readonly fixesSampling?: true;
}

// OpenAI model pages, November 2026. The first family that fits wins, so the narrower name stands first.
const families: readonly ModelFamily[] = [
  { name: 'gpt-3.5-turbo', maxOutputTokens: 4096 },
  { name: 'gpt-4-turbo', maxOutputTokens: 4096 },
  { name: 'gpt-4o-2024-05-13', maxOutputTokens: 4096 },
  { name: 'gpt-4o', maxOutputTokens: 16_384 },
  { name: 'gpt-4.1', maxOutputTokens: 32_768 },
  { name: 'gpt-5-chat', maxOutputTokens: 16_384 },
  { name: 'gpt-5', maxOutputTokens: 128_000, reasons: true, fixesSampling: true },
  ...['gpt-5.1', 'gpt-5.2', 'gpt-5.3', 'gpt-5.4', 'gpt-5.5', 'gpt-5.6', 'gpt-6', 'gpt-6.1'].map(
    (name): ModelFamily => ({ name, maxOutputTokens: 128_000, reasons: true }),
  ),
  { name: 'o1-preview', maxOutputTokens: 32_768, reasons: true, fixesSampling: true },
  { name: 'o1-mini', maxOutputTokens: 65_536, reasons: true, fixesSampling: true },
  { name: 'o1', maxOutputTokens: 100_000, reasons: true, fixesSampling: true },
  { name: 'o3', maxOutputTokens: 100_000, reasons: true, fixesSampling: true },
  { name: 'o4-mini', maxOutputTokens: 100_000, reasons: true, fixesSampling: true },
];

const samplingRules = defineRules({
  'output-limit-too-high': {
    alias: 'C8',
    title: 'the output limit is one the model has',
    fix: 'Lower the output limit to what the model supports.',
    evidence: 'reported',
    wording: (_path: string, asked: number, supported: number) =>
      `max_tokens is too large: ${asked}. This model supports at most ${supported} completion tokens, whereas you provided ${asked}.`,
  },
  'unsupported-parameter': {
    alias: 'C10',
    title: 'reasoning models take max_completion_tokens and the default temperature',
    fix: 'Send max_completion_tokens instead of max_tokens and leave temperature out.',
    evidence: 'inferred',
    wording: (path: string, value: unknown) =>
      path === 'temperature'
        ? `Unsupported value: 'temperature' does not support ${value} with this model. Only the default (1) value is supported.`
        : `Unsupported parameter: '${path}' is not supported with this model. Use 'max_completion_tokens' instead.`,
  },
});

/** Output limit and temperature, for models whose limits are known; others are held to nothing. */
export const chatSampling: RuleGroup<ChatRequest> = { rules: samplingRules, check: checkSampling };

function checkSampling({ body, hasFrame, model = '', vendor }: ChatRequest): readonly Violation[] {
  const family = families.find(({ name }) => model === name || model.startsWith(`${name}-`));
  if (family === undefined || !hasFrame || !isOpenai(vendor)) return [];
  const maxTokens = read(body, 'max_tokens');
  const isRefused = family.reasons === true && isGiven(maxTokens);
  const limits = isRefused ? ['max_completion_tokens'] : ['max_tokens', 'max_completion_tokens'];
  const temperature = read(body, 'temperature');
  const isFixed = family.fixesSampling === true && typeof temperature === 'number' && temperature !== 1;
  return [
    ...(isRefused ? [report(samplingRules['unsupported-parameter'], 'max_tokens', maxTokens)] : []),
    ...limits.flatMap((path) => {
      const asked = read(body, path);
      if (typeof asked !== 'number' || asked <= family.maxOutputTokens) return [];
      return [report(samplingRules['output-limit-too-high'], path, asked, family.maxOutputTokens)];
    }),
    ...(isFixed ? [report(samplingRules['unsupported-parameter'], 'temperature', temperature)] : []),
  ];
}
