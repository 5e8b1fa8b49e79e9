/**
 * roundfold/ai-sdk: keeps agents of the Vercel AI SDK inside their window. Types are told by their shape, so that nothing
 * of the SDK is loaded or needed here.
 * @module
 */
import type { Usage } from '../conversation/message.ts';
import { aiSdkModel } from '../formats/ai-sdk/model.ts';
import { followConversations } from '../keeper/following.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { type CompactorSource, compactorsFrom } from './compactor-source.ts';

/** What of a step that is about to be made is looked at. */
export interface StepToPrepare<Message> {
  readonly messages: Message[];
  /** The steps before it, with what the provider reported. */
  readonly steps: readonly { readonly usage: StepUsage }[];
}

/** What the SDK tells of the tokens of a step. */
export interface StepUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** A `prepareStep`: other messages for the step, or undefined when they stay as they are. */
export type CompactStep = <Message>(
  step: StepToPrepare<Message>,
) => Promise<{ readonly messages: Message[] } | undefined>;

/**
 * A `prepareStep` for `generateText`, `streamText` and agents that keeps every step inside the window.
 *
 * The SDK comes with all of the history in every step and in every call: what an earlier step compacted stays compacted.
 * One function may serve many conversations, each with a compactor of its own, unless it is given one.
 */
export function compactStep(source: CompactorSource): CompactStep {
  const follow = followConversations(compactorsFrom(source, aiSdkModel.name), aiSdkModel);
  return async <Message>({ messages, steps }: StepToPrepare<Message>) => {
    const changed = await follow({ messages, usage: reportedUsage(messages, steps.at(-1)?.usage) });
    // Model messages go in, and model messages come out.
    return changed === undefined ? undefined : { messages: changed as Message[] };
  };
}

const estimator = createTokenEstimator();

/** The report of the last step, which knows of instructions and tools, and what tools have returned since. */
function reportedUsage(messages: readonly unknown[], usage: StepUsage | undefined): Usage | undefined {
  const { inputTokens, outputTokens = 0 } = usage ?? {};
  if (inputTokens === undefined) return undefined;
  const views = messages.map(aiSdkModel.readMessage);
  const since = views.slice(views.findLastIndex(({ role }) => role === 'assistant') + 1);
  const returned = since.reduce((tokens, message) => tokens + estimator.countMessage(message), 0);
  return { promptTokens: inputTokens, outputTokens: outputTokens + Math.ceil(returned) };
}

/** What of a call of a model is looked at. */
export interface ModelCall {
  readonly prompt: readonly unknown[];
  readonly tools?: readonly unknown[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** A middleware for `wrapLanguageModel`. */
export interface CompactionMiddleware {
  readonly specificationVersion: 'v3';
  transformParams<Call extends ModelCall>(options: { readonly params: Call }): Promise<Call>;
}

/**
 * A middleware for `wrapLanguageModel` that keeps every prompt of the model inside the window, whoever asks. It sees
 * instructions and tools as well, but not what the provider reported: where `prepareStep` can be had, it is the better
 * place.
 */
export function compactionMiddleware(source: CompactorSource): CompactionMiddleware {
  const follow = followConversations(compactorsFrom(source, aiSdkModel.name), aiSdkModel);
  return {
    specificationVersion: 'v3',
    async transformParams({ params }) {
      const { prompt: messages, tools = [], abortSignal: signal } = params;
      const prompt = await follow({ messages, tools, signal });
      return prompt === undefined ? params : { ...params, prompt };
    },
  };
}
