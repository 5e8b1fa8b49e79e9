import { type Finding, report } from '../finding.ts';
import { read, readList, readText } from '../json-value.ts';
import { type ChatRequest, isOpenai, readCalls } from './request.ts';
import { chatRules } from './rules.ts';

const {
  tooManyTools,
  tooManyToolCalls,
  toolCallIdTooLong,
  textTooLong,
  malformedToolName,
  imageOutsideUserMessage,
} = chatRules;

const maxTools = 128;
const maxCallIdLength = 40;
const maxTextLength = 10_485_760;
const maxNameLength = 64;
const namePattern = /^[a-zA-Z0-9_-]+$/;

/** Sizes, names and the place of images. Only OpenAI's own limits are known, so other vendors are not held to them. */
export function checkLimits({ body, messages, hasFrame, vendor }: ChatRequest): readonly Finding[] {
  if (!isOpenai(vendor)) return [];
  const longIds = new Set<string>();
  return [
    ...(hasFrame ? checkTools(body) : []),
    ...messages.flatMap((message, index) => [
      ...checkTexts(message, index),
      ...checkImages(message, index),
      ...checkCalls(message, index, longIds),
      ...checkAnswerId(message, index, longIds),
    ]),
  ];
}

function checkTools(body: unknown): readonly Finding[] {
  const tools = readList(body, 'tools');
  const names = tools.flatMap((tool, index) => {
    const path = `tools[${index}].function.name`;
    return checkName(readText(read(tool, 'function'), 'name'), path, []);
  });
  return tools.length > maxTools
    ? [
        report(tooManyTools, {
          place: [],
          path: 'tools',
          message: tooManyTools.wording('tools', tools.length),
        }),
        ...names,
      ]
    : names;
}

function checkName(name: string | undefined, path: string, place: readonly number[]): readonly Finding[] {
  if (name === undefined) return [];
  if (name.length > maxNameLength) {
    return [
      report(malformedToolName, {
        place,
        path,
        message: malformedToolName.wording.length(path, maxNameLength, name.length),
      }),
    ];
  }
  return namePattern.test(name)
    ? []
    : [report(malformedToolName, { place, path, message: malformedToolName.wording.pattern(path) })];
}

function checkTexts(message: unknown, index: number): readonly Finding[] {
  const content = read(message, 'content');
  const path = `messages[${index}].content`;
  if (typeof content === 'string') return checkText(content, path, [index, 0]);
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, position) =>
    checkText(readText(part, 'text') ?? '', `${path}[${position}].text`, [index, 0, position]),
  );
}

function checkText(text: string, path: string, place: readonly number[]): readonly Finding[] {
  if (text.length <= maxTextLength) return [];
  return [
    report(textTooLong, { place, path, message: textTooLong.wording(path, maxTextLength, text.length) }),
  ];
}

function checkImages(message: unknown, index: number): readonly Finding[] {
  const role = readText(message, 'role');
  if (role === undefined || role === 'user') return [];
  const hasImage = readList(message, 'content').some((part) => read(part, 'type') === 'image_url');
  if (!hasImage) return [];
  return [
    report(imageOutsideUserMessage, {
      place: [index, 0],
      path: `messages[${index}]`,
      message: imageOutsideUserMessage.wording(index, role),
    }),
  ];
}

function checkCalls(message: unknown, index: number, longIds: Set<string>): readonly Finding[] {
  const calls = readCalls(message);
  const path = `messages[${index}].tool_calls`;
  const findings = calls.flatMap((call, position) => {
    const place = [index, 1, position];
    const name = readText(read(call, 'function'), 'name');
    return [
      ...checkCallId(readText(call, 'id'), `${path}[${position}].id`, place, longIds),
      ...checkName(name, `${path}[${position}].function.name`, place),
    ];
  });
  return calls.length > maxTools
    ? [
        report(tooManyToolCalls, {
          place: [index, 1],
          path,
          message: tooManyToolCalls.wording(path, calls.length),
        }),
        ...findings,
      ]
    : findings;
}

function checkAnswerId(message: unknown, index: number, longIds: Set<string>): readonly Finding[] {
  const path = `messages[${index}].tool_call_id`;
  return checkCallId(readText(message, 'tool_call_id'), path, [index], longIds);
}

/** A long id is one fault, reported at the call; its answer only repeats it. */
function checkCallId(
  id: string | undefined,
  path: string,
  place: readonly number[],
  longIds: Set<string>,
): readonly Finding[] {
  if (id === undefined || id.length <= maxCallIdLength || longIds.has(id)) return [];
  longIds.add(id);
  return [
    report(toolCallIdTooLong, {
      place,
      path,
      message: toolCallIdTooLong.wording(path, maxCallIdLength, id.length),
    }),
  ];
}
