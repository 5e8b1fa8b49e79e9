import { asString, isObject, type JsonObject } from '../core/json.ts';
import type { Chunking, Delivery } from './delivery.ts';
import { type Fault, faultsOn, kindOf } from './faults.ts';
import { limitsOf } from './model-limits.ts';
import { isRefused, type Problem, retryHeaders } from './problem.ts';
import { measurePrompt, type Prompt, type TokenCounter } from './prompt.ts';
import type { Accepted, Call, Provider } from './provider.ts';
import { fitReply } from './reply.ts';
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
  const { provider, accepted, faults, call } = situation;
  const { body } = accepted;
  const limits = limitsOf(asString(body['model']) ?? '', behaviour.windowTokens);
  const mayTruncate = provider.truncates(body) || faults.some((fault) => kindOf(fault).truncates === true);
  const prompt = mayTruncate ? truncatePrompt(counted, limits.inputTokens, behaviour.countTokens) : counted;
  const room = provider.outputRoom(prompt.tokens, body, limits);
  const promptTokens = prompt.tokens;
  if (isRefused(room)) return { ...refuse(provider, room.problem, call.requestId), promptTokens };

  const { conversation, countText } = prompt;
  const turn = { number: call.number, conversation, promptTokens, ...provider.readAsked(accepted) };
  const reply = fitReply(behaviour.script(turn), room, countText);
  const answer = provider.answer({ accepted, prompt, reply });
  return {
    delivery: deliveryOf(situation, answer, behaviour.chunking),
    promptTokens,
    outputTokens: reply.outputTokens,
  };
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
