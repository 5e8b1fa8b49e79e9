import { asString, type JsonObject } from '../../conversation/json.ts';
import type { ModelLimits } from '../model-limits.ts';
import type { Refused } from '../problem.ts';
import type { OutputRoom } from '../reply.ts';

/**
 * `prompt is too long` above the window. Models up to Claude 4 also refuse a prompt that leaves no room for all of
 * `max_tokens`; later ones answer and stop with `model_context_window_exceeded` when the window is full.
 */
export function anthropicOutputRoom(
  promptTokens: number,
  body: JsonObject,
  { windowTokens }: ModelLimits,
): OutputRoom | Refused {
  if (promptTokens > windowTokens) {
    return refuse(`prompt is too long: ${promptTokens} tokens > ${windowTokens} maximum`);
  }
  const wanted = typeof body['max_tokens'] === 'number' ? body['max_tokens'] : 0;
  if (promptTokens + wanted <= windowTokens) return { tokens: wanted, stop: 'length' };
  if (!isUpToClaude4(asString(body['model']) ?? ''))
    return { tokens: windowTokens - promptTokens, stop: 'window' };
  return refuse(
    `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${wanted} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`,
  );
}

function refuse(message: string): Refused {
  return { problem: { status: 400, message } };
}

const claudeVersion = /claude-(?:(\d)(?!\d)|[a-z]{3,12}-(\d)(?:[-.](\d{1,2})(?!\d))?(?!\d))/;

/** Claude 3 in every spelling, and Claude 4 up to 4.1. A name without a version is a new model. */
function isUpToClaude4(model: string): boolean {
  const [, oldMajor, major, minor = '0'] = claudeVersion.exec(model.slice(0, 200).toLowerCase()) ?? [];
  if (oldMajor !== undefined) return true;
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 5));
}
