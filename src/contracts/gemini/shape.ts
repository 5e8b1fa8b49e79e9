import { type Finding, report } from '../finding.ts';
import { isObject, read } from '../json-value.ts';
import { type FieldName, field, listField, namesOf } from './fields.ts';
import type { Content, GeminiRequest } from './request.ts';
import { geminiRules } from './rules.ts';

const { wrongKindOfValue, noMessages, emptyContent, emptyPart, severalThingsInPart, emptyTool, unknownRole } =
  geminiRules;

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
const roles = new Set(['user', 'model', 'function']);

/** Kinds of values, empty things and roles. */
export function checkShape({ body, contents, hasFrame, isVertex }: GeminiRequest): readonly Finding[] {
  return [
    ...checkContents(body, contents),
    ...(hasFrame ? [...checkTools(body), ...checkInstruction(body)] : []),
    ...contents.flatMap((content, index) => checkContent(content, index, isVertex)),
  ];
}

function checkContents(body: unknown, contents: readonly Content[]): readonly Finding[] {
  const value = field(body, 'contents');
  const fault = { place: [], path: 'contents' };
  if (value !== undefined && typeof value !== 'object') {
    return [report(wrongKindOfValue, { ...fault, message: wrongKindOfValue.wording('contents', 'Content') })];
  }
  return contents.length === 0 ? [report(noMessages, { ...fault, message: noMessages.wording() })] : [];
}

function checkTools(body: unknown): readonly Finding[] {
  return listField(body, 'tools').flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (!isObject(tool))
      return [report(wrongKindOfValue, { place: [], path, message: wrongKindOfValue.wording(path, 'Tool') })];
    const hasType = Object.values(tool).some((value) => !isEmpty(value));
    return hasType ? [] : [report(emptyTool, { place: [], path, message: emptyTool.wording(path) })];
  });
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function checkInstruction(body: unknown): readonly Finding[] {
  return listField(field(body, 'systemInstruction'), 'parts').flatMap((part, position) =>
    checkPart(part, `system_instruction.parts[${position}]`, []),
  );
}

function checkContent(content: Content, index: number, isVertex: boolean): readonly Finding[] {
  const path = `contents[${index}]`;
  if (!isObject(content.value)) {
    return [
      report(wrongKindOfValue, { place: [index], path, message: wrongKindOfValue.wording(path, 'Content') }),
    ];
  }
  return [...checkRole(content.value, index, isVertex), ...checkParts(content, index)];
}

function checkRole(content: unknown, index: number, isVertex: boolean): readonly Finding[] {
  const role = read(content, 'role');
  const isMissing = role === undefined || role === null || role === '';
  const isValid = isMissing ? !isVertex : typeof role === 'string' && roles.has(role);
  if (isValid) return [];
  return [
    report(unknownRole, { place: [index], path: `contents[${index}].role`, message: unknownRole.wording() }),
  ];
}

function checkParts({ value, parts }: Content, index: number): readonly Finding[] {
  const path = `contents[${index}].parts`;
  const given = field(value, 'parts');
  if (given !== undefined && typeof given !== 'object') {
    return [
      report(wrongKindOfValue, { place: [index], path, message: wrongKindOfValue.wording(path, 'Part') }),
    ];
  }
  if (parts.length === 0) {
    return [report(emptyContent, { place: [index], path, message: emptyContent.wording(path) })];
  }
  return parts.flatMap((part, position) => checkPart(part, `${path}[${position}]`, [index, position]));
}

function checkPart(part: unknown, path: string, place: readonly number[]): readonly Finding[] {
  if (!isObject(part))
    return [report(wrongKindOfValue, { place, path, message: wrongKindOfValue.wording(path, 'Part') })];
  const [first, second] = dataFields.filter((name) => field(part, name) !== undefined);
  if (second !== undefined) {
    return [report(severalThingsInPart, { place, path, message: severalThingsInPart.wording(path, second) })];
  }
  if (first === undefined && !hasOtherData(part)) {
    return [report(emptyPart, { place, path, message: emptyPart.wording(path) })];
  }
  // Reports differ on whether an empty text counts as data. With a signature it does: the model sends it so itself.
  const isFragile = field(part, 'text') === '' && field(part, 'thoughtSignature') === undefined;
  if (!isFragile) return [];
  return [report(emptyPart, { place, path, message: emptyPart.wording(path), severity: 'warning' })];
}

function hasOtherData(part: object): boolean {
  return Object.entries(part).some(([name, value]) => value !== null && !companionFields.has(name));
}
