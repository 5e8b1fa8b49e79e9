import { isObject, type JsonObject } from '../../core/json.ts';
import { isKnownType, openMessage, withFields } from '../langchain-forms.ts';
import { toJson } from '../result-content.ts';
import type { MendContext, Mender } from './mender.ts';
import { LEFT_OUT, looseText, plainRole, unwrapMessage } from './raw-message.ts';

/** Messages of LangChain. Ids stay as they are: one call may be written down in three places of its message. */
export const langchainMender: Mender = { shape };

const TYPES = { user: 'human', assistant: 'ai', system: 'system' } as const;

function shape(raw: unknown, { log }: MendContext): readonly unknown[] {
  const message = unwrapMessage(raw, isMessage, log);
  const open = openMessage(message);
  if (open === undefined || !isObject(message)) {
    if (typeof message === 'string' && message.trim() !== '') return [message];
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ type: 'human', content: text }];
  }
  if (open.type === 'remove') return [message];
  if (!isKnownType(open.type)) {
    const role = plainRole(open.type);
    log.add('message of an unknown role', `taken for the ${role}'s`);
    const { role: _role, ...fields } = open.fields;
    const content = fields['content'] ?? toJson(message) ?? '';
    return [{ ...fields, type: TYPES[role], content }];
  }
  const { content } = open.fields;
  if (typeof content === 'string' || Array.isArray(content)) return [message];
  const hasCalls = Array.isArray(open.fields['tool_calls']) && open.fields['tool_calls'].length > 0;
  const isResult = open.type === 'tool' || open.type === 'function';
  if ((content === undefined || content === null) && !hasCalls && !isResult) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  log.add('message without content', 'given an empty text');
  return [withFields(message, open, { content: isObject(content) ? [content] : (toJson(content ?? undefined) ?? '') })];
}

function isMessage(value: JsonObject): boolean {
  return openMessage(value) !== undefined;
}
