import type { Violation } from '../contract.ts';
import { isGiven, isObject, read } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import {
  type Content,
  type FieldName,
  field,
  type GeminiRequest,
  listField,
  namesOf,
  valueRules,
} from './request.ts';

const rules = defineRules({
  'no-messages': {
    alias: 'G6',
    title: 'there is at least one content',
    fix: 'Send at least one content.',
    evidence: 'reported',
    wording: () => '* GenerateContentRequest.contents: contents is not specified',
  },
  'empty-content': {
    alias: 'G6',
    title: 'a content has parts',
    fix: 'Remove the content or give it a part.',
    evidence: 'reported',
    wording: (path: string) => `* GenerateContentRequest.${path}: contents.parts must not be empty.`,
  },
  'empty-part': {
    alias: 'G6',
    title: 'a part holds something',
    fix: 'Remove the empty part.',
    evidence: 'reported',
    wording: (path: string) =>
      `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`,
  },
  'several-things-in-part': {
    alias: 'G6',
    title: 'a part holds one thing',
    fix: 'Give every kind of data a part of its own.',
    evidence: 'reported',
    wording: (path: string, name: string) =>
      `Invalid value at '${path}' (oneof), oneof field 'data' is already set. Cannot set '${name}'`,
  },
  'empty-tool': {
    alias: 'G6',
    title: 'a tool says what it offers',
    fix: 'Remove the empty tool.',
    evidence: 'reported',
    wording: (path: string) =>
      `${path}.tool_type: required one_of 'tool_type' must have one initialized field`,
  },
  'unknown-role': {
    alias: 'G7',
    title: 'the role is user or model; on Vertex it may not be left out',
    fix: "Give the content the role 'user' or 'model'.",
    evidence: 'reported',
    wording: () => 'Please use a valid role: user, model.',
  },
});

/** Kinds of values, empty things and roles. */
export const geminiShape: RuleGroup<GeminiRequest> = {
  rules: { ...valueRules, ...rules },
  check: ({ body, contents, hasFrame, isVertex }) => [
    ...checkContents(body, contents),
    ...(hasFrame ? [...checkTools(body), ...checkInstruction(body)] : []),
    ...contents.flatMap((content) => checkContent(content, isVertex)),
  ],
};

const dataFields: readonly FieldName[] = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/** Fields that only describe the data of their part. Every other field may be data of a kind not known here. */
const companionFields = new Set(
  (
    ['thought', 'thoughtSignature', 'mediaResolution', 'videoMetadata', 'partMetadata'] satisfies FieldName[]
  ).flatMap(namesOf),
);

// Older SDKs send function responses under the role `function`, and the server takes it.
const roles = new Set<unknown>(['user', 'model', 'function']);

function checkContents(body: unknown, contents: readonly Content[]): readonly Violation[] {
  const value = field(body, 'contents');
  if (value !== undefined && typeof value !== 'object') return [wrongKind('contents', 'Content')];
  return contents.length === 0 ? [report(rules['no-messages'], 'contents')] : [];
}

function checkTools(body: unknown): readonly Violation[] {
  return listField(body, 'tools').flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (!isObject(tool)) return [wrongKind(path, 'Tool')];
    const isEmpty = Object.values(tool).every(
      (value) => !isGiven(value) || (Array.isArray(value) && value.length === 0),
    );
    return isEmpty ? [report(rules['empty-tool'], path)] : [];
  });
}

function checkInstruction(body: unknown): readonly Violation[] {
  return listField(field(body, 'systemInstruction'), 'parts').flatMap((part, position) =>
    checkPart(part, `system_instruction.parts[${position}]`),
  );
}

function checkContent(content: Content, isVertex: boolean): readonly Violation[] {
  if (!isObject(content.value)) return [wrongKind(content.path, 'Content')];
  const role = read(content.value, 'role');
  const isValid = !isGiven(role) || role === '' ? !isVertex : roles.has(role);
  return [
    ...(isValid ? [] : [report(rules['unknown-role'], `${content.path}.role`)]),
    ...checkParts(content),
  ];
}

function checkParts({ value, parts, path: contentPath }: Content): readonly Violation[] {
  const path = `${contentPath}.parts`;
  const given = field(value, 'parts');
  if (given !== undefined && typeof given !== 'object') return [wrongKind(path, 'Part')];
  if (parts.length === 0) return [report(rules['empty-content'], path)];
  return parts.flatMap((part, position) => checkPart(part, `${path}[${position}]`));
}

function checkPart(part: unknown, path: string): readonly Violation[] {
  if (!isObject(part)) return [wrongKind(path, 'Part')];
  const [first, second] = dataFields.filter((name) => field(part, name) !== undefined);
  if (second !== undefined) return [report(rules['several-things-in-part'], path, second)];
  if (first === undefined && !hasOtherData(part)) return [report(rules['empty-part'], path)];
  // Reports differ on whether an empty text counts as data. With a signature it does: the model sends it so itself.
  const isFragile = field(part, 'text') === '' && field(part, 'thoughtSignature') === undefined;
  return isFragile ? [{ ...report(rules['empty-part'], path), severity: 'warning' }] : [];
}

function hasOtherData(part: object): boolean {
  return Object.entries(part).some(([name, value]) => value !== null && !companionFields.has(name));
}

function wrongKind(path: string, type: string): Violation {
  return report(valueRules['wrong-kind-of-value'], path, type);
}
