import { asList, asString, type JsonObject } from '../../conversation/json.ts';
import type { Problem } from '../problem.ts';

const maxChoices = 128;
const maxStopSequences = 4;

/** How many answers a request asks for. */
export function readChoiceCount({ n }: JsonObject): number {
  return typeof n === 'number' ? n : 1;
}

/** Texts that end an answer: one, or a list. */
export function readStopSequences({ stop }: JsonObject): readonly string[] {
  const texts = typeof stop === 'string' ? [stop] : asList(stop);
  return texts.flatMap((text) => asString(text) ?? []);
}

/** The refusal of a number of answers, or of stop sequences, that the API does not take. */
export function checkChoices({ n, stop }: JsonObject): Problem | undefined {
  if (n !== undefined && n !== null) {
    const problem = checkCount(n);
    if (problem !== undefined) return problem;
  }
  const { length } = asList(stop);
  if (length <= maxStopSequences) return undefined;
  const message = `Invalid 'stop': array too long. Expected an array with maximum length ${maxStopSequences}, but got an array with length ${length} instead.`;
  return { status: 400, code: 'array_above_max_length', param: 'stop', message };
}

function checkCount(count: unknown): Problem | undefined {
  if (typeof count !== 'number' || !Number.isInteger(count)) {
    const message = "Invalid type for 'n': expected an integer.";
    return { status: 400, code: 'invalid_type', param: 'n', message };
  }
  if (count >= 1 && count <= maxChoices) return undefined;
  const [side, limit] =
    count < 1 ? (['below minimum', '>= 1'] as const) : (['above maximum', `<= ${maxChoices}`] as const);
  const message = `Invalid 'n': integer ${side} value. Expected a value ${limit}, but got ${count} instead.`;
  return {
    status: 400,
    code: count < 1 ? 'integer_below_min_value' : 'integer_above_max_value',
    param: 'n',
    message,
  };
}
