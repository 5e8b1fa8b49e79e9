import { findModel } from '../tokens/catalog.ts';
import { catalog } from '../tokens/catalog-data.ts';
import { createAnthropicMessages } from './anthropic-messages/provider.ts';
import { plainDelivery } from './delivery.ts';
import { tryParseJson } from './json.ts';
import { answerCall, type ModelBehaviour, type Outcome, refuse } from './model-endpoint.ts';
import { createOpenaiChat } from './openai-chat.ts';
import { createOpenaiResponses } from './openai-responses/provider.ts';
import { measurePrompt } from './prompt.ts';
import { type Call, isRefused, type Provider, type World } from './provider.ts';

/** Every provider. A new one is one line; OpenAI's come last, since they answer whoever nobody else does. */
const makers: readonly ((world: World) => Provider | readonly Provider[])[] = [
  createAnthropicMessages,
  createOpenaiChat,
  createOpenaiResponses,
];

/** A request as it came off the wire. */
export interface RawRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: Call['headers'];
  readonly body: Buffer | 'too-large';
}

/** What a request came to. */
export interface Routed extends Outcome {
  /** Undefined for paths that are no model's. */
  readonly format?: string | undefined;
  readonly parsedBody?: unknown;
}

/** Answers every request. Never throws for what a client sends. */
export type Router = (request: RawRequest) => Routed;

const modelsPath = '/v1/models';

const invalidJson = { status: 400, message: 'The request body is not valid JSON, or nested too deeply.' };

/** The endpoints of one simulator. */
export function createRouter(world: World, behaviour: ModelBehaviour): Router {
  const providers = makers.flatMap((make) => make(world));
  let callCount = 0;

  const post = (request: RawRequest, provider: Provider): Routed => {
    const requestId = world.ids('req_');
    const { headers, body } = request;
    if (body === 'too-large') return refuse(provider, provider.tooLargeBody, requestId);
    if (!provider.hasKey(headers)) return refuse(provider, provider.missingKey, requestId);
    const parsed = tryParseJson(body);
    if (parsed === undefined) return refuse(provider, invalidJson, requestId);
    const call = { headers, body: parsed.value, requestId };
    const known = { parsedBody: parsed.value, format: provider.format };
    try {
      return request.path === provider.path
        ? { ...answerCall(provider, { ...call, number: ++callCount }, behaviour), ...known }
        : { ...countTokens(provider, call, behaviour), ...known };
    } catch (error) {
      // A script or a counter of the caller's may throw as well as what stands here.
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
      const problem = { status: 500, message: `Internal server error: ${reason}` };
      return { ...refuse(provider, problem, requestId), ...known };
    }
  };

  return (request) => {
    const { method, path, headers } = request;
    const provider = providers.find((each) => each.path === path || each.counter?.path === path);
    if (method === 'POST' && provider !== undefined) return post(request, provider);
    // A path that belongs to nobody is answered in the shape that the client understands.
    const speaker = providers.find((each) => each.speaksTo(headers)) ?? providers[0];
    if (speaker === undefined) throw new TypeError('there are providers');
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
  const accepted = provider.accept({ ...call, isCount: true });
  if (isRefused(accepted)) return refuse(provider, accepted.problem, call.requestId);
  const { tokens } = measurePrompt(accepted.conversation, behaviour.countTokens);
  return { delivery: plainDelivery(200, provider.counter?.answer(tokens)), promptTokens: tokens };
}

/** `GET /v1/models` or `GET /v1/models/{id}`. */
function listModels({ path, headers }: RawRequest, provider: Provider, requestId: string): Outcome {
  const { models } = provider;
  if (!provider.hasKey(headers)) return refuse(provider, provider.missingKey, requestId);
  if (path === modelsPath) {
    const own = catalog.filter((model) => model.provider === models.maker);
    return { delivery: plainDelivery(200, models.writeList(own)) };
  }
  const id = safeDecode(path.slice(modelsPath.length + 1));
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
