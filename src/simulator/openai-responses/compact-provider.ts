import { asString, type JsonObject } from '../../conversation/json.ts';
import { automaticCacheUse } from '../automatic-cache.ts';
import type { Problem } from '../problem.ts';
import type { Exchange, Provider, World } from '../provider.ts';
import { compactionTokens, userMessagesOf, writeCompaction } from './compaction.ts';
import { createOpenaiResponses } from './provider.ts';
import { createReasoningSeals, type ReasoningSeals } from './seals.ts';
import { itemsOf } from './stored-responses.ts';

/** `POST /v1/responses/compact`: the same requests, answered with a shorter input to go on with. */
export function createResponsesCompact(world: World): Provider {
  const responses = createOpenaiResponses(world);
  const seals = createReasoningSeals(world.secret);
  return {
    ...responses,
    accept: (call) => {
      const accepted = responses.accept(call);
      return 'body' in accepted && accepted.body['stream'] !== undefined ? { problem: noStream } : accepted;
    },
    readAsked: (accepted) => ({ ...responses.readAsked(accepted), isCompaction: true }),
    answer: (exchange) => writeCompacted(exchange, world, seals),
  };
}

const noStream: Problem = {
  status: 400,
  code: 'unknown_parameter',
  param: 'stream',
  message: "Unknown parameter: 'stream'.",
};

/** The user's messages as they are, and one item for everything else. */
function writeCompacted({ accepted, prompt }: Exchange, world: World, seals: ReasoningSeals): JsonObject {
  const items = itemsOf(world.responses.expand(accepted.body));
  const outputTokens = compactionTokens(prompt);
  const model = asString(accepted.body['model']) ?? '';
  return {
    id: world.ids('resp_', 48),
    object: 'response.compaction',
    created_at: Math.floor(world.now() / 1000),
    output: [...userMessagesOf(items, world), writeCompaction(prompt, world, seals)],
    usage: {
      input_tokens: prompt.tokens,
      input_tokens_details: automaticCacheUse(world.cache, prompt, model),
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt.tokens + outputTokens,
    },
  };
}
