import { asCount, asString, isObject, type JsonObject } from '../conversation/json.ts';

/** What a provider counted for one response, as the session file records it. No token is in two of the counts. */
export interface RecordedCharge {
  readonly model: string | undefined;
  readonly timestamp: string | undefined;
  /** Tokens of the prompt that no cache had a part in. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** Written to a cache that keeps them for five minutes, or as long as the provider likes. */
  readonly cacheWriteTokens: number;
  /** Written to a cache that keeps them for an hour. */
  readonly cacheWriteHourTokens: number;
  readonly outputTokens: number;
  /** What the agent itself says that it cost, in dollars. */
  readonly recordedCost: number | undefined;
}

type Counts = Omit<RecordedCharge, 'model' | 'timestamp'>;

function tokensIn(counts: Counts): number {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens } = counts;
  return inputTokens + cacheReadTokens + cacheWriteTokens + cacheWriteHourTokens + outputTokens;
}

/** The charge; undefined where nothing was counted and nothing paid. */
function chargeOf(
  counts: Counts,
  model: string | undefined,
  timestamp: string | undefined,
): RecordedCharge | undefined {
  const isNothing = tokensIn(counts) === 0 && (counts.recordedCost ?? 0) === 0;
  return isNothing ? undefined : { model, timestamp, ...counts };
}

/** From `usage` as Anthropic's API gives it. */
function anthropicCharge(
  usage: unknown,
  model: string | undefined,
  timestamp: string | undefined,
): RecordedCharge | undefined {
  if (!isObject(usage)) return undefined;
  const written = asCount(usage['cache_creation_input_tokens']);
  const split = isObject(usage['cache_creation']) ? usage['cache_creation'] : {};
  const hour = Math.min(written, asCount(split['ephemeral_1h_input_tokens']));
  const counts = {
    inputTokens: asCount(usage['input_tokens']),
    cacheReadTokens: asCount(usage['cache_read_input_tokens']),
    cacheWriteTokens: written - hour,
    cacheWriteHourTokens: hour,
    outputTokens: asCount(usage['output_tokens']),
    recordedCost: undefined,
  };
  return chargeOf(counts, model, timestamp);
}

/** What a record of Claude Code was charged for, and the response that it belongs to: every record of one repeats its usage. */
export function claudeCodeCharge(
  record: JsonObject,
): { readonly response: string; readonly charge: RecordedCharge } | undefined {
  const { message, requestId, uuid } = record;
  if (!isObject(message)) return undefined;
  const charge = anthropicCharge(message['usage'], asString(message['model']), asString(record['timestamp']));
  const response = [message['id'] ?? uuid, requestId].map((part) => asString(part) ?? '').join('\n');
  return charge === undefined ? undefined : { response, charge };
}

/** From usage as Codex counts it: what was cached is part of the input. */
export function codexCharge(
  usage: JsonObject,
  model: string | undefined,
  timestamp: string | undefined,
): RecordedCharge | undefined {
  const read = asCount(usage['cached_input_tokens']);
  const written = asCount(usage['cache_write_input_tokens']);
  const counts = {
    inputTokens: Math.max(0, asCount(usage['input_tokens']) - read - written),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    cacheWriteHourTokens: 0,
    outputTokens: asCount(usage['output_tokens']),
    recordedCost: undefined,
  };
  return chargeOf(counts, model, timestamp);
}

/** From the usage of a turn of pi. */
export function piCharge(message: JsonObject, timestamp: string | undefined): RecordedCharge | undefined {
  const { usage } = message;
  if (!isObject(usage)) return undefined;
  const written = asCount(usage['cacheWrite']);
  const hour = Math.min(written, asCount(usage['cacheWrite1h']));
  const cost = isObject(usage['cost']) ? usage['cost']['total'] : undefined;
  const counts = {
    inputTokens: asCount(usage['input']),
    cacheReadTokens: asCount(usage['cacheRead']),
    cacheWriteTokens: written - hour,
    cacheWriteHourTokens: hour,
    outputTokens: asCount(usage['output']),
    recordedCost: asCount(cost) || undefined,
  };
  return chargeOf(counts, asString(message['model']), timestamp);
}

/** One charge for each response in a message of OpenCode, which may hold several. */
export function opencodeCharges(
  info: JsonObject,
  parts: readonly unknown[],
  timestamp: string | undefined,
): readonly RecordedCharge[] {
  const steps = parts.filter(isObject).filter(({ type }) => type === 'step-finish');
  return (steps.length === 0 ? [info] : steps)
    .map((counted) => opencodeCharge(counted, asString(info['modelID']), timestamp))
    .filter((charge) => charge !== undefined);
}

/** OpenCode counts reasoning apart from the output. */
function opencodeCharge(
  { tokens, cost }: JsonObject,
  model: string | undefined,
  timestamp: string | undefined,
): RecordedCharge | undefined {
  if (!isObject(tokens)) return undefined;
  const cache = isObject(tokens['cache']) ? tokens['cache'] : {};
  const counts = {
    inputTokens: asCount(tokens['input']),
    cacheReadTokens: asCount(cache['read']),
    cacheWriteTokens: asCount(cache['write']),
    cacheWriteHourTokens: 0,
    outputTokens: asCount(tokens['output']) + asCount(tokens['reasoning']),
    recordedCost: asCount(cost) || undefined,
  };
  return chargeOf(counts, model, timestamp);
}

/** From the tokens of an answer of Gemini CLI: what was cached is part of the input, thoughts are not part of the output. */
export function geminiCharge(message: JsonObject, timestamp: string | undefined): RecordedCharge | undefined {
  const { tokens } = message;
  if (!isObject(tokens)) return undefined;
  const read = asCount(tokens['cached']);
  const counts = {
    inputTokens: Math.max(0, asCount(tokens['input']) + asCount(tokens['tool']) - read),
    cacheReadTokens: read,
    cacheWriteTokens: 0,
    cacheWriteHourTokens: 0,
    outputTokens: asCount(tokens['output']) + asCount(tokens['thoughts']),
    recordedCost: undefined,
  };
  return chargeOf(counts, asString(message['model']), timestamp);
}
