import type { JsonObject } from '../conversation/json.ts';
import { answerCall, type ModelBehaviour, type Outcome, plainDelivery, refuse } from './model-endpoint.ts';
import { readModels } from './model-list.ts';
import { isRefused } from './problem.ts';
import { measurePrompt } from './prompt.ts';
import type { Call, Provider, World } from './provider.ts';
import { anthropicMessagesPath, makers, openaiChatPath, openaiResponsesPath } from './providers.ts';
import { type RequestBody, tryParseJson } from './request-body.ts';

/** A request as it came off the wire. */
export interface RawRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: Call['headers'];
  readonly body: RequestBody;
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

/** An endpoint that counts what the one it belongs to would be sent. */
interface Counter {
  readonly of: string;
  answer(tokens: number): JsonObject;
}

/** Which path counts for which provider. A new one is one row. */
const counters: ReadonlyMap<string, Counter> = new Map<string, Counter>([
  [
    `${anthropicMessagesPath}/count_tokens`,
    {
      of: anthropicMessagesPath,
      answer: (tokens) => ({ input_tokens: tokens }),
    },
  ],
  [
    `${openaiResponsesPath}/input_tokens`,
    {
      of: openaiResponsesPath,
      answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    },
  ],
]);

/** The endpoints of one simulator. */
export function createRouter(world: World, behaviour: ModelBehaviour): Router {
  const providers = new Map([...makers].map(([path, make]) => [path, make(world)] as const));
  const anthropic = providerAt(providers, anthropicMessagesPath);
  const openai = providerAt(providers, openaiChatPath);
  let callCount = 0;

  /** A path that nobody answers is refused in the shape that the client understands. */
  const speakerFor = ({ headers }: RawRequest): Provider =>
    headers['anthropic-version'] === undefined && headers['x-api-key'] === undefined ? openai : anthropic;

  const notFound = (request: RawRequest): Routed => {
    const provider = speakerFor(request);
    const message = provider === openai ? `Invalid URL (${request.method} ${request.path})` : 'Not Found';
    return refuse(provider, { status: 404, message }, world.ids('req_'));
  };

  const listModels = (request: RawRequest): Routed => {
    const provider = speakerFor(request);
    const requestId = world.ids('req_');
    if (!provider.hasKey(request.headers)) return refuse(provider, provider.missingKey, requestId);
    const id =
      request.path === modelsPath ? undefined : safeDecode(request.path.slice(modelsPath.length + 1));
    const models = readModels(id, provider === openai ? 'openai' : 'anthropic');
    if (isRefused(models)) return refuse(provider, models.problem, requestId);
    return { delivery: plainDelivery(200, models.body) };
  };

  const countTokens = (provider: Provider, counter: Counter, call: Call, requestId: string): Routed => {
    const accepted = provider.accept({ ...call, isCount: true });
    if (isRefused(accepted)) return refuse(provider, accepted.problem, requestId);
    const { tokens } = measurePrompt(accepted.conversation, behaviour.countTokens);
    return { delivery: plainDelivery(200, counter.answer(tokens)), promptTokens: tokens };
  };

  const post = (request: RawRequest, provider: Provider): Routed => {
    const requestId = world.ids('req_');
    const { headers, body } = request;
    if (body === 'too-large') return refuse(provider, provider.tooLargeBody, requestId);
    if (!provider.hasKey(headers)) return refuse(provider, provider.missingKey, requestId);
    const parsed = tryParseJson(body.bytes);
    if (parsed === undefined) return refuse(provider, invalidJson, requestId);
    const parsedBody = parsed.value;
    const call = { headers, body: parsedBody };
    try {
      const counter = counters.get(request.path);
      const outcome =
        counter === undefined
          ? answerCall(provider, { ...call, requestId, number: ++callCount }, behaviour)
          : countTokens(provider, counter, call, requestId);
      return { ...outcome, parsedBody, format: provider.format };
    } catch (error) {
      const problem = { status: 500, message: `Internal server error: ${describe(error)}` };
      return { ...refuse(provider, problem, requestId), parsedBody, format: provider.format };
    }
  };

  return (request) => {
    const { method, path } = request;
    const isModels = path === modelsPath || path.startsWith(`${modelsPath}/`);
    if (method === 'GET' && isModels) return listModels(request);
    const provider = providers.get(counters.get(path)?.of ?? path);
    return method === 'POST' && provider !== undefined ? post(request, provider) : notFound(request);
  };
}

const invalidJson = {
  status: 400,
  message: 'The request body is not valid JSON, or nested too deeply.',
} as const;

function providerAt(providers: ReadonlyMap<string, Provider>, path: string): Provider {
  const provider = providers.get(path);
  if (provider === undefined) throw new TypeError(`no provider at ${path}`);
  return provider;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What went wrong, in a script or a counter of the caller's as well as here. */
function describe(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : 'unknown';
}
