import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { ToolCallBlock } from '../../conversation/message.ts';
import { isLegalId, shapeAnthropicBlock } from './anthropic-blocks.ts';
import { markAtMostFour } from './anthropic-cache.ts';
import { beginAtSummary } from './anthropic-compaction.ts';
import { endAsAllowed, startWithUser } from './anthropic-ends.ts';
import { dropBrokenServerTools } from './anthropic-server-tools.ts';
import { placeSystemMessages } from './anthropic-system.ts';
import type { IdRules, MendContext, Mender } from './mender.ts';
import { LEFT_OUT, looseText, plainRole, unwrapMessage, withoutFields } from './raw-message.ts';

const ids: IdRules = {
  maxLength: 64,
  isLegal: isLegalId,
  needsId: (_call: ToolCallBlock) => true,
  withCallId: (call, id) => ({ ...call, id }),
  withAnsweredId: (result, id) => ({ ...result, tool_use_id: id }),
};

/** Anthropic Messages. */
export const anthropicMender: Mender = {
  shape,
  idRules: () => ids,
  mayShareAnswer: true,
  resultMediaFitsUser: true,
  prepare: beginAtSummary,
  arrange(messages, context) {
    const whole = dropBrokenServerTools(messages, context);
    const placed = placeSystemMessages(whole, context);
    return markAtMostFour(endAsAllowed(startWithUser(placed, context), context), context);
  },
  withInstructions(body, texts) {
    const { system } = body;
    const before =
      typeof system === 'string' && system !== '' ? [{ type: 'text', text: system }] : asList(system);
    return { ...body, system: [...before, ...texts.map((text) => ({ type: 'text', text }))] };
  },
};

const FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['user', new Set(['role', 'content'])],
  ['assistant', new Set(['role', 'content'])],
  ['system', new Set(['role', 'content', 'clear_at', 'output_config'])],
]);

function shape(raw: unknown, context: MendContext): readonly unknown[] {
  const { log } = context;
  const message = unwrapMessage(raw, hasContent, log);
  if (!isObject(message) || (!hasContent(message) && typeof message['role'] !== 'string')) {
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ role: 'user', content: text }];
  }
  const role = plainRole(message['role']);
  const content = shapeContent(message['content'], context);
  if (content === undefined) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  if (role !== message['role']) log.add('message of an unknown role', `taken for the ${role}'s`);
  const named = role === message['role'] ? message : { ...message, role };
  const filled = content === message['content'] ? named : { ...named, content };
  return splitByRole(withKnownFields(filled, role, context), role, context);
}

function hasContent(value: JsonObject): boolean {
  return (value['content'] ?? null) !== null;
}

/** The fields that the API takes. Only a request has to do without the others. */
function withKnownFields(message: JsonObject, role: string, { isRequest, log }: MendContext): JsonObject {
  if (!isRequest) return message;
  const known = withoutFields(message, (name) => FIELDS.get(role)?.has(name) !== true);
  if (known !== message) log.add('message with fields that the provider refuses', 'sent without them');
  return known;
}

/** Content that the API can read; undefined when nothing is left of it. */
function shapeContent(content: unknown, { log }: MendContext): unknown {
  if (typeof content === 'string') return content.trim() === '' ? undefined : content;
  if (content === undefined || content === null) return undefined;
  const list = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  if (list !== content) log.add('content that is no list', 'put into one');
  const blocks = list.flatMap((block) => shapeAnthropicBlock(block, log));
  if (blocks.length === 0) return undefined;
  const isSame = blocks.length === list.length && blocks.every((block, index) => block === list[index]);
  return isSame ? list : blocks;
}

/** The one role that may say a block; undefined for what everybody may say. */
function roleOfBlock(block: unknown): 'user' | 'assistant' | undefined {
  const type = isObject(block) ? block['type'] : undefined;
  if (type === 'tool_result') return 'user';
  if (typeof type !== 'string') return undefined;
  const isCall = type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';
  if (isCall || type === 'thinking' || type === 'redacted_thinking') return 'assistant';
  if (type.endsWith('_tool_result')) return 'assistant';
  const isUnsignedSummary = type === 'compaction' && isObject(block) && (block['signature'] ?? null) === null;
  return isUnsignedSummary ? 'assistant' : undefined;
}

/** Blocks that stand in the wrong role get a message of the right one, in their place. */
function splitByRole(message: JsonObject, role: string, { log }: MendContext): readonly unknown[] {
  const content = asList(message['content']);
  const roles = content.map((block) => roleOfBlock(block) ?? role);
  const strays = roles.filter((one) => one !== role).length;
  if (strays === 0) return [message];
  log.add('block in a message of the wrong role', 'moved to a message of its own', strays);
  const parts: { readonly role: string; readonly content: unknown[] }[] = [];
  for (const [index, block] of content.entries()) {
    const own = roles[index] ?? role;
    const last = parts.at(-1);
    if (last?.role === own) last.content.push(block);
    else parts.push({ role: own, content: [block] });
  }
  return parts.map((part) => (part.role === role ? { ...message, content: part.content } : part));
}
