import { asString } from '../conversation/json.ts';
import { findModel } from '../tokens/catalog.ts';
import { catalog } from '../tokens/catalog-data.ts';
import { createAnthropicMessages } from './anthropic-messages/provider.ts';
import { type BodyFault, encodingNames } from './body.ts';
import { plainDelivery } from './delivery.ts';
import { createGemini } from './gemini/provider.ts';
import { asObject, tryParseJson } from './json.ts';
import { answerCall, type ModelBehaviour, type Outcome, refuse } from './model-endpoint.ts';
import { createOpenaiChat } from './openai-chat.ts';
import { createOpenaiResponses } from './openai-responses/provider.ts';
import { measurePrompt } from './prompt.ts';
import {
  type Address,
  type Call,
  isRefused,
  type Problem,
  type Provider,
  type Target,
  type World,
} from './provider.ts';

/** Every provider. A new one is one line; OpenAI's come last, since they answer whoever nobody else does. */
const makers: readonly ((world: World) => Provider | readonly Provider[])[] = [
  createAnthropicMessages,
  createGemini,
  createOpenaiChat,
  createOpenaiResponses,
];

/** A request as it came off the wire. */
export interface RawRequest extends Address {
  readonly method: string;
  readonly headers: Call['headers'];
  /** Decoded, or why it could not be. */
  readonly body: Buffer | BodyFault;
}

/** What a request came to. */
export interface Routed extends Outcome {
  /** Undefined for paths that are no model's. */
  readonly format?: string | undefined;
  readonly model?: string | undefined;
  readonly parsedBody?: unknown;
}

/** Answers every request. Never throws for what a client sends. */
export type Router = (request: RawRequest) => Routed;

const invalidJson = { status: 400, message: 'The request body is not valid JSON, or nested too deeply.' };

/** What is said about a body that could not be read. How a provider says that one is too large is its own. */
const bodyProblems: Readonly<Record<Exclude<BodyFault, 'too-large'>, Problem>> = {
  'unknown-encoding': {
    status: 415,
    message: `Unsupported content-encoding. Supported: ${encodingNames.join(', ')}.`,
  },
  undecodable: { status: 400, message: 'The request body is not what its content-encoding says.' },
};

/** WebSockets are not spoken here: clients that try them first go on with HTTP and the whole history. */
const noWebSocket: Problem = { status: 426, message: 'WebSocket is not supported here. Use HTTP.' };

/** The endpoints of one simulator. */
export function createRouter(world: World, behaviour: ModelBehaviour): Router {
  const providers = makers.flatMap((make) => make(world));
  let callCount = 0;

  const post = (request: RawRequest, provider: Provider, target: Target): Routed => {
    const requestId = world.ids('req_');
    const { headers, body } = request;
    if (typeof body === 'string') {
      const problem = body === 'too-large' ? provider.tooLargeBody : bodyProblems[body];
      return refuse(provider, problem, requestId);
    }
    if (!provider.hasKey(headers, request)) return refuse(provider, provider.missingKey, requestId);
    const parsed = tryParseJson(body);
    if (parsed === undefined) return refuse(provider, invalidJson, requestId);
    const model = target.model ?? asString(asObject(parsed.value)['model']);
    const call = { headers, body: parsed.value, target, requestId };
    const known = { parsedBody: parsed.value, format: provider.format, model };
    try {
      return target.isCount
        ? { ...countTokens(provider, call, behaviour), ...known }
        : { ...answerCall(provider, { ...call, number: ++callCount }, behaviour), ...known };
    } catch (error) {
      // A script or a counter of the caller's may throw as well as what stands here.
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
      const problem = { status: 500, message: `Internal server error: ${reason}` };
      return { ...refuse(provider, problem, requestId), ...known };
    }
  };

  return (request) => {
    const { method, path, headers } = request;
    // A path that belongs to nobody is answered in the shape that the client understands.
    const speaker = providers.find((each) => each.speaksTo(headers, path)) ?? providers[0];
    if (speaker === undefined) throw new TypeError('there are providers');
    if (headers['upgrade']?.toLowerCase() === 'websocket') {
      return refuse(speaker, noWebSocket, world.ids('req_'));
    }
    if (method === 'POST') {
      for (const provider of providers) {
        const target = provider.target(request);
        if (target !== undefined) return post(request, provider, target);
      }
    }
    const { path: modelsPath } = speaker.models;
    const isModels = path === modelsPath || path.startsWith(`${modelsPath}/`);
    if (method === 'GET' && isModels) return listModels(request, speaker, world.ids('req_'));
    return refuse(speaker, { status: 404, message: speaker.notFound(request) }, world.ids('req_'));
  };
}

function countTokens(
  provider: Provider,
  call: Call & { readonly requestId: string },
  behaviour: ModelBehaviour,
): Outcome {
  const accepted = provider.accept(call);
  if (isRefused(accepted)) return refuse(provider, accepted.problem, call.requestId);
  const { tokens } = measurePrompt(accepted.conversation, behaviour.countTokens);
  return { delivery: plainDelivery(200, provider.countAnswer?.(tokens)), promptTokens: tokens };
}

/** `GET /v1/models` or `GET /v1/models/{id}`, or wherever the provider has them. */
function listModels(request: RawRequest, provider: Provider, requestId: string): Outcome {
  const { models } = provider;
  const { path } = request;
  if (!provider.hasKey(request.headers, request)) return refuse(provider, provider.missingKey, requestId);
  if (path === models.path) {
    const own = catalog.filter((model) => model.provider === models.maker);
    return { delivery: plainDelivery(200, models.writeList(own)) };
  }
  const id = safeDecode(path.slice(models.path.length + 1));
  const model = findModel(id);
  return model === undefined
    ? refuse(provider, models.unknown(id), requestId)
    : { delivery: plainDelivery(200, models.write({ ...model, id })) };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
