import { RoundfoldError } from '../conversation/errors.ts';
import type { Format } from '../conversation/format.ts';
import { isObject, type JsonObject } from '../conversation/json.ts';
import { readConversation } from '../formats/registry.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import type { Probe } from './probes.ts';
import type { Cut } from './trajectory.ts';

/** A session cut where its agent was in the middle of something, with questions that a successor would ask. */
export interface ProbeSession {
  readonly cut: Cut;
  readonly probes: readonly Probe[];
}

/**
 * Makes a session of a request body with a `future` beside its messages: what really happened next, which may be left out.
 * @throws RoundfoldError `input-not-understood` for a body of no known format
 */
export function probeSessionOf(name: string, body: unknown, probes: readonly Probe[]): ProbeSession {
  const { future: given, ...request } = isObject(body) ? body : {};
  const future = listOf(given);
  const prefix = formatOf(request, future).read(request);
  const estimator = createTokenEstimator();
  const instructions = prefix.messages.filter(({ role }) => role === 'system');
  return {
    probes,
    cut: {
      session: name,
      title: name,
      stretch: 0,
      prefix,
      prefixTokens: estimator.countMessages(prefix.messages),
      instructionTokens: estimator.countMessages(instructions),
      future: future.map((message) => prefix.format.readMessage(message)),
      share: 1,
      openingSummary: undefined,
    },
  };
}

/** Short beginnings look alike in several formats; what came next tells them apart. */
function formatOf(request: JsonObject, future: readonly unknown[]): Format {
  const { messages } = request;
  const whole = Array.isArray(messages) ? { ...request, messages: [...messages, ...future] } : request;
  return readConversation(whole).format;
}

function listOf(future: unknown): readonly unknown[] {
  if (future === undefined) return [];
  if (Array.isArray(future)) return future;
  throw new RoundfoldError('input-not-understood', '`future` is no list of messages', {
    remedy: 'Give the messages that came after the cut, in the format of `messages`, or leave it out.',
  });
}
