import { withMessages, writeConversation } from '../conversation/format.ts';
import { asString, type JsonObject } from '../conversation/json.ts';
import { contextWindowForModel, findModel } from '../tokens/catalog.ts';
import { type Chunking, type Delivery, plainDelivery } from './delivery.ts';
import { type Fault, faultsOn, kindOf } from './faults.ts';
import { asObject } from './json.ts';
import { measurePrompt, type Prompt, type TokenCounter } from './prompt.ts';
import {
  type Accepted,
  type Call,
  isRefused,
  type ModelLimits,
  type Problem,
  type Provider,
  retryHeaders,
  type ServerEvent,
} from './provider.ts';
import { type FittedReply, fitReply, type OutputRoom, silence } from './reply.ts';
import type { Script } from './script.ts';

/** How the model behind the endpoints behaves. */
export interface ModelBehaviour {
  readonly windowTokens: number | undefined;
  readonly countTokens: TokenCounter | undefined;
  readonly script: Script;
  readonly faults: readonly Fault[];
  readonly chunking: Chunking;
}

/** An answer, and what there is to say about it. */
export interface Outcome {
  readonly delivery: Delivery;
  readonly promptTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly rule?: string | undefined;
  readonly faults?: readonly string[] | undefined;
}

/** A request to a model, and which one it is. */
export interface NumberedCall extends Call {
  /** Counts from 1. */
  readonly number: number;
  readonly requestId: string;
}

/** Answers a request to a model: faults that refuse, the contract, the length, and then the script. */
export function answerCall(provider: Provider, call: NumberedCall, behaviour: ModelBehaviour): Outcome {
  const { number, body } = call;
  const faults = faultsOn(behaviour.faults, { number, format: provider.format, body });
  return { ...judgeCall(provider, call, faults, behaviour), faults: faults.map(({ name }) => name) };
}

function judgeCall(
  provider: Provider,
  call: NumberedCall,
  faults: readonly Fault[],
  behaviour: ModelBehaviour,
): Outcome {
  const accepted = provider.accept(call);
  if (isRefused(accepted)) {
    const problem = refusalByFault(faults, call, 0) ?? accepted.problem;
    return refuse(provider, problem, call.requestId);
  }
  const counted = measurePrompt(accepted.conversation, behaviour.countTokens);
  const refusal = refusalByFault(faults, call, counted.tokens);
  if (refusal !== undefined) return refuse(provider, refusal, call.requestId);
  return answerAccepted({ provider, accepted, faults, call }, counted, behaviour);
}

interface Situation {
  readonly provider: Provider;
  readonly accepted: Accepted;
  readonly faults: readonly Fault[];
  readonly call: NumberedCall;
}

function answerAccepted(situation: Situation, counted: Prompt, behaviour: ModelBehaviour): Outcome {
  const { provider, accepted, faults } = situation;
  const limits = limitsOf(accepted.model, behaviour.windowTokens);
  const mayTruncate =
    provider.truncates?.(accepted.body) === true || faults.some((fault) => kindOf(fault).truncates === true);
  const prompt = mayTruncate ? truncatePrompt(counted, limits.inputTokens, behaviour.countTokens) : counted;
  const room = provider.outputRoom(prompt.tokens, accepted, limits);
  const promptTokens = prompt.tokens;
  if (isRefused(room)) return { ...refuseLength(situation, room.problem, prompt, behaviour), promptTokens };

  const replies = repliesTo(situation, prompt, room, behaviour.script);
  const answer = provider.answer({ accepted, prompt, reply: replies[0] ?? silence, replies });
  return {
    delivery: deliveryOf(situation, answer, behaviour.chunking),
    promptTokens,
    outputTokens: replies.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

/** What the script says: once, or as often as the request asks for; nothing where the server is to summarise. */
function repliesTo(
  { provider, accepted, call }: Situation,
  { conversation, tokens, countText }: Prompt,
  room: OutputRoom,
  script: Script,
): readonly FittedReply[] {
  const { stopSequences, choiceCount = 1, isCompaction = false, ...asked } = provider.readAsked(accepted);
  if (isCompaction) return [silence];
  const turn = { number: call.number, conversation, promptTokens: tokens, ...asked };
  return Array.from({ length: choiceCount }, (_, choice) =>
    fitReply(script({ ...turn, choice }), { ...room, stopSequences }, countText),
  );
}

/** A prompt that is too long is refused at once, or by a stream that has begun already. */
function refuseLength(
  situation: Situation,
  problem: Problem,
  prompt: Prompt,
  { chunking }: ModelBehaviour,
): Outcome {
  const { provider, accepted, faults, call } = situation;
  const isLate = faults.some((fault) => kindOf(fault).refusesLengthInStream === true);
  if (!isLate || accepted.streamsAs === undefined) return refuse(provider, problem, call.requestId);
  const answer = provider.answer({ accepted, prompt, reply: silence, replies: [silence] });
  const events = failedEvents(provider, answer, accepted.body, problem);
  return { delivery: { ...deliveryOf(situation, answer, chunking), events } };
}

function failedEvents(
  provider: Provider,
  answer: JsonObject,
  body: JsonObject,
  problem: Problem,
): readonly ServerEvent[] {
  return (
    provider.failedEvents?.(answer, problem) ??
    provider.errorEvents(provider.events(answer, body).slice(0, 1), problem)
  );
}

/** The answer as it goes out, after every fault has had its way with it. */
function deliveryOf(
  { provider, accepted, faults, call }: Situation,
  answer: JsonObject,
  chunking: Chunking,
): Delivery {
  const { body, streamsAs } = accepted;
  const events = streamsAs === undefined ? undefined : provider.events(answer, body);
  const whole = streamsAs === 'list' ? events?.map(({ data }) => data) : answer;
  const unharmed: Delivery = {
    ...plainDelivery(200, whole),
    headers: { [provider.requestIdHeader]: call.requestId },
    events: streamsAs === 'events' ? events : undefined,
    streamEnd: provider.streamEnd,
    chunking,
  };
  const failed = (problem: Problem): readonly ServerEvent[] => failedEvents(provider, answer, body, problem);
  return faults.reduce(
    (delivery, fault) => kindOf(fault).deliver?.(delivery, fault, { provider, failed }) ?? delivery,
    unharmed,
  );
}

function refusalByFault(
  faults: readonly Fault[],
  { body, target }: Call,
  promptTokens: number,
): Problem | undefined {
  const model = target.model ?? asString(asObject(body)['model']) ?? '';
  for (const fault of faults) {
    const problem = kindOf(fault).refuse?.(fault, { model, promptTokens });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A refusal in the provider's shape. */
export function refuse(provider: Provider, found: Problem, requestId: string): Outcome {
  const problem = provider.own?.(found) ?? found;
  return {
    delivery: {
      ...plainDelivery(problem.status, problem.body ?? provider.errorBody(problem, requestId)),
      headers: { [provider.requestIdHeader]: requestId, ...retryHeaders(problem) },
    },
    rule: problem.rule,
  };
}

/**
 * Drops the oldest messages that are no instructions until the prompt fits, as some servers do without a word. The last
 * message always stays. The very same prompt when it fits.
 */
function truncatePrompt(prompt: Prompt, limitTokens: number, countTokens?: TokenCounter): Prompt {
  if (prompt.tokens <= limitTokens) return prompt;
  const { conversation } = prompt;
  const last = conversation.messages.length - 1;
  const droppable = conversation.messages.filter(({ role }, index) => role !== 'system' && index < last);
  const without = (count: number): Prompt => {
    const dropped = new Set(droppable.slice(0, count));
    const kept = conversation.messages.filter((message) => !dropped.has(message));
    const body = writeConversation(withMessages(conversation, kept));
    return measurePrompt(conversation.format.read(body), countTokens);
  };
  let tooFew = 0;
  let enough = droppable.length;
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (without(middle).tokens > limitTokens) tooFew = middle;
    else enough = middle;
  }
  return without(enough);
}

/** The limits of a model, or of every model when a window is given. */
function limitsOf(model: string, windowTokens: number | undefined): ModelLimits {
  if (windowTokens !== undefined) return { windowTokens, inputTokens: windowTokens };
  const window = contextWindowForModel(model);
  return { windowTokens: window, inputTokens: findModel(model)?.maxInputTokens ?? window };
}
