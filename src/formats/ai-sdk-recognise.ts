import type { Recognition } from '../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';

/**
 * Whether a value is a list of model messages, or a body with one. Messages whose content is all plain text look the
 * same in other formats: they are `possible`.
 */
export function recogniseModelMessages(value: unknown): Recognition {
  const list = Array.isArray(value) ? value : isObject(value) ? value['messages'] : undefined;
  if (!Array.isArray(list)) return 'no';
  // Tools by name: every wire format has a list of them.
  const isOwnFrame = isObject(value) && isObject(value['tools']);
  return joinVerdicts(list.map(recogniseModelMessage), isOwnFrame ? 'certain' : 'possible');
}

/** Whether a value is a list of UI messages, or a body with one. */
export function recogniseUiMessages(value: unknown): Recognition {
  const list = Array.isArray(value) ? value : isObject(value) ? value['messages'] : undefined;
  if (!Array.isArray(list) || list.length === 0) return 'no';
  return joinVerdicts(list.map(recogniseUiMessage), 'possible');
}

/** One message that does not fit rules the format out; one that fits nothing else makes it certain. */
function joinVerdicts(verdicts: readonly Recognition[], otherwise: Recognition): Recognition {
  if (verdicts.includes('no')) return 'no';
  return verdicts.includes('certain') ? 'certain' : otherwise;
}

const MODEL_ROLES = new Set(['system', 'user', 'assistant', 'tool']);
const WIRE_FIELDS = ['parts', 'tool_calls', 'tool_call_id', 'function_call', 'reasoning_content'];

function recogniseModelMessage(message: unknown): Recognition {
  if (!isObject(message) || WIRE_FIELDS.some((field) => message[field] !== undefined)) return 'no';
  const { role, content } = message;
  if (typeof role !== 'string' || !MODEL_ROLES.has(role)) return 'no';
  if (role === 'tool' && !Array.isArray(content)) return 'no';
  if (typeof content !== 'string' && !Array.isArray(content)) return 'no';
  return joinVerdicts(
    asList(content).map(recognisePart),
    message['providerOptions'] ? 'certain' : 'possible',
  );
}

type PartCheck = (part: JsonObject) => boolean;

const hasCallId: PartCheck = (part) => typeof part['toolCallId'] === 'string';
const hasApprovalId: PartCheck = (part) => typeof part['approvalId'] === 'string';

/** What tells a part of each type from a part of the same type elsewhere. */
const ownParts = new Map<string, PartCheck>([
  ['tool-call', hasCallId],
  ['tool-result', hasCallId],
  ['tool-approval-request', hasApprovalId],
  ['tool-approval-response', hasApprovalId],
  ['reasoning', (part) => typeof part['text'] === 'string'],
  ['reasoning-file', (part) => part['data'] !== undefined],
  ['image', (part) => part['image'] !== undefined],
  ['file', (part) => part['data'] !== undefined && typeof part['mediaType'] === 'string'],
  ['custom', (part) => typeof part['kind'] === 'string'],
]);

function recognisePart(part: unknown): Recognition {
  const type = isObject(part) ? asString(part['type']) : undefined;
  if (!isObject(part) || type === undefined) return 'no';
  const isOwn = ownParts.get(type);
  if (isOwn !== undefined) return isOwn(part) ? 'certain' : 'no';
  // Types of the AI SDK have hyphens, those of the wire formats underscores: a new one may well be its own.
  if (type.includes('_')) return 'no';
  return part['providerOptions'] === undefined ? 'possible' : 'certain';
}

const UI_ROLES = new Set(['system', 'user', 'assistant']);

/** Gemini's contents have parts too, but without a type. */
function recogniseUiMessage(message: unknown): Recognition {
  if (!isObject(message) || !UI_ROLES.has(asString(message['role']) ?? '')) return 'no';
  const parts = message['parts'];
  if (!Array.isArray(parts)) return 'no';
  if (!parts.every((part) => isObject(part) && typeof part['type'] === 'string')) return 'no';
  return parts.length > 0 ? 'certain' : 'possible';
}
