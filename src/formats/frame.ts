/** Reads what stands around the messages of a request: the list itself, tools, ids. */

import { RoundfoldError } from '../conversation/errors.ts';
import type { Frame, Recognition, ToolDefinition } from '../conversation/format.ts';
import { asList, asString, isObject } from '../conversation/json.ts';

/**
 * The list of messages in a body, or the body itself when it is a bare list.
 * @throws RoundfoldError `input-not-understood` when there is neither
 */
export function findList(body: unknown, key: string, format: string): readonly unknown[] {
  const list = listIn(body, key);
  if (list !== undefined) return list;
  const found = isObject(body) ? body[key] : undefined;
  throw new RoundfoldError('input-not-understood', `no list of messages: \`${key}\` is ${kindOf(found)}`, {
    place: { path: key },
    remedy: `A ${format} request has its messages in \`${key}\`, as a list; a bare list of messages will do as well.`,
  });
}

/** The same, or undefined when there is neither. */
export function listIn(body: unknown, key = 'messages'): readonly unknown[] | undefined {
  const list = isObject(body) ? body[key] : body;
  return Array.isArray(list) ? list : undefined;
}

/** One message that does not fit rules a format out; one that fits nothing else makes it certain. */
export function joinVerdicts(verdicts: readonly Recognition[], otherwise: Recognition): Recognition {
  if (verdicts.includes('no')) return 'no';
  return verdicts.includes('certain') ? 'certain' : otherwise;
}

/** The frame of messages that stand alone: nothing is known of a model, instructions or tools. */
export function bareFrame(body: unknown, list: readonly unknown[]): Frame {
  return { body, list, model: undefined, system: [], tools: [], continues: undefined, managedBy: undefined };
}

/** The body with another list under `key`; a bare list gives a bare list. */
export function replaceUnderKey(body: unknown, key: string, list: readonly unknown[]): unknown {
  return isObject(body) ? { ...body, [key]: list } : list;
}

/** Tools of a request, each with the name that `nameOf` finds. */
export function readTools(list: unknown, nameOf: (tool: unknown) => unknown): readonly ToolDefinition[] {
  return asList(list).map((raw) => ({ name: asString(nameOf(raw)) ?? 'unnamed', raw }));
}

/** The id of a response. An empty one, as some servers send it with every answer, tells none from the others. */
export function readResponseId(id: unknown): string | undefined {
  return asString(id) || undefined;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return `a ${typeof value}`;
}
