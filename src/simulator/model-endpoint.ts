import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Chunking, Delivery } from './delivery.ts';
import { type Fault, faultsOn, kindOf } from './faults.ts';
import { limitsOf } from './model-limits.ts';
import { isRefused, type Problem, retryHeaders } from './problem.ts';
import { measurePrompt, type Prompt, type TokenCounter } from './prompt.ts';
import type { Accepted, Call, Provider } from './provider.ts';
import { type FittedReply, fitReply, type OutputRoom, silence } from './reply.ts';
import type { Script } from './script.ts';
import { truncatePrompt } from './truncate.ts';

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
  const names = faults.map(({ name }) => name);
  const accepted = provider.accept(call);
  const counted = isRefused(accepted)
    ? undefined
    : measurePrompt(accepted.conversation, behaviour.countTokens);

  const refusal = refusalByFault(faults, body, counted);
  if (refusal !== undefined) return { ...refuse(provider, refusal, call.requestId), faults: names };
  if (isRefused(accepted)) return { ...refuse(provider, accepted.problem, call.requestId), faults: names };
  if (counted === undefined) throw new TypeError('an accepted request is counted');

  return { ...answerAccepted({ provider, accepted, faults, call }, counted, behaviour), faults: names };
}

interface Situation {
  readonly provider: Provider;
  readonly accepted: Accepted;
  readonly faults: readonly Fault[];
  readonly call: NumberedCall;
}

function answerAccepted(situation: Situation, counted: Prompt, behaviour: ModelBehaviour): Outcome {
  const { provider, accepted, faults } = situation;
  const { body } = accepted;
  const limits = limitsOf(asString(body['model']) ?? '', behaviour.windowTokens);
  const mayTruncate = provider.truncates(body) || faults.some((fault) => kindOf(fault).truncates === true);
  const prompt = mayTruncate ? truncatePrompt(counted, limits.inputTokens, behaviour.countTokens) : counted;
  const room = provider.outputRoom(prompt.tokens, body, limits);
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
  if (!isLate || accepted.body['stream'] !== true) return refuse(provider, problem, call.requestId);
  const answer = provider.answer({ accepted, prompt, reply: silence, replies: [silence] });
  const events = provider.failedEvents(answer, problem);
  return { delivery: { ...deliveryOf(situation, answer, chunking), events } };
}

/** The answer as it goes out, after every fault has had its way with it. */
function deliveryOf(
  { provider, accepted, faults, call }: Situation,
  answer: JsonObject,
  chunking: Chunking,
): Delivery {
  const { body } = accepted;
  const plain: Delivery = {
    status: 200,
    headers: { [provider.requestIdHeader]: call.requestId },
    body: answer,
    events: body['stream'] === true ? provider.events(answer, body) : undefined,
    streamEnd: provider.streamEnd,
    endOfLine: '\n',
    chunking,
    delayMs: 0,
    isCut: false,
  };
  return faults.reduce(
    (delivery, fault) => kindOf(fault).deliver?.(delivery, fault, { provider, answer }) ?? delivery,
    plain,
  );
}

function refusalByFault(
  faults: readonly Fault[],
  body: unknown,
  counted: Prompt | undefined,
): Problem | undefined {
  const model = (isObject(body) ? asString(body['model']) : undefined) ?? '';
  for (const fault of faults) {
    const problem = kindOf(fault).refuse?.(fault, { model, promptTokens: counted?.tokens ?? 0 });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A refusal in the provider's shape. */
export function refuse(provider: Provider, problem: Problem, requestId: string): Outcome {
  return {
    delivery: {
      ...plainDelivery(problem.status, problem.body ?? provider.errorBody(problem, requestId)),
      headers: { [provider.requestIdHeader]: requestId, ...retryHeaders(problem) },
    },
    rule: problem.rule,
  };
}

/** An answer that is one JSON value. */
export function plainDelivery(status: number, body: unknown): Delivery {
  return {
    status,
    headers: {},
    body,
    events: undefined,
    streamEnd: undefined,
    endOfLine: '\n',
    chunking: 'whole',
    delayMs: 0,
    isCut: false,
  };
}
