import { geminiContract } from '../../contracts/registry.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { gemini } from '../../formats/gemini/format.ts';
import { findModel } from '../../tokens/catalog.ts';
import type { ModelInfo } from '../../tokens/model-info.ts';
import { asObject } from '../json.ts';
import type {
  Accepted,
  Address,
  Asked,
  Call,
  ModelLimits,
  ModelList,
  Problem,
  Provider,
  Refused,
  Target,
  World,
} from '../provider.ts';
import type { OutputRoom } from '../reply.ts';
import type { OfferedTool } from '../script.ts';
import { answerEvents, writeAnswer } from './answer.ts';
import { thinks } from './models.ts';
import { createThoughtSignatures } from './signatures.ts';

/** `POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent` and `:countTokens`. */
export function createGemini(world: World): Provider {
  const signatures = createThoughtSignatures(world.secret);

  return {
    format: 'gemini',
    target: readTarget,
    countAnswer: (tokens) => ({
      totalTokens: tokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
    }),
    models,
    speaksTo: (headers, path) => headers['x-goog-api-key'] !== undefined || path.startsWith('/v1beta/'),
    notFound: ({ path }) => `The requested URL ${path.slice(0, 200)} was not found on this server.`,
    requestIdHeader: 'x-goog-request-id',
    streamEnd: undefined,
    missingKey: {
      status: 403,
      message:
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    },
    tooLargeBody: { status: 400, message: 'Request payload size exceeds the limit: 33554432 bytes.' },
    hasKey: (headers, { query }) =>
      headers['x-goog-api-key'] !== undefined || headers['authorization'] !== undefined || query.has('key'),
    own: (problem) => (problem.status === 529 ? { ...problem, ...overloaded } : problem),
    errorBody: (problem) => errorOf(problem),

    accept: (call) => accept(call, signatures.verifier(call.target.model ?? '')),
    outputRoom,
    readAsked,
    answer: (exchange) => writeAnswer(exchange, world, signatures),
    events: (answer) => answerEvents(answer),
    errorEvents: (first, problem) => [...first, { data: errorOf(problem) }],
  };
}

const methods: ReadonlyMap<string, Pick<Target, 'isCount' | 'streamsAs'>> = new Map([
  ['generateContent', { isCount: false }],
  ['streamGenerateContent', { isCount: false, streamsAs: 'list' }],
  ['countTokens', { isCount: true }],
]);

const methodPath = /^\/v1(?:beta)?\/models\/([^/:]{1,200}):([A-Za-z]{1,40})$/;

/** Model and method stand in the path. A stream is a JSON list unless `alt=sse` asks for events. */
function readTarget({ path, query }: Address): Target | undefined {
  const [, model, name = ''] = methodPath.exec(path) ?? [];
  const method = methods.get(name);
  if (model === undefined || method === undefined) return undefined;
  const streamsAs =
    method.streamsAs !== undefined && query.get('alt') === 'sse' ? 'events' : method.streamsAs;
  return { ...method, model, streamsAs };
}

function accept(
  { body: sent, target }: Call,
  seals: ReturnType<ReturnType<typeof createThoughtSignatures>['verifier']>,
): Accepted | Refused {
  const model = target.model ?? '';
  const wrapped = asObject(sent)['generateContentRequest'];
  const given = target.isCount && isObject(wrapped) ? wrapped : sent;
  const violation = geminiContract
    .check(given, { model, seals })
    .find(({ severity }) => severity === 'error');
  if (violation !== undefined) {
    return { problem: { status: 400, message: violation.message, rule: violation.rule } };
  }
  const body = asObject(given);
  if (body['cachedContent'] !== undefined || body['cached_content'] !== undefined) {
    return { problem: noCachedContent };
  }
  const named = { ...body, model };
  return { body: named, model, streamsAs: target.streamsAs, conversation: gemini.read(named) };
}

const noCachedContent: Problem = {
  status: 403,
  message: 'CachedContent not found (or permission denied)',
};

const overloaded = { status: 503, message: 'The model is overloaded. Please try again later.' } as const;

const statusNames: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [429, 'RESOURCE_EXHAUSTED'],
  [500, 'INTERNAL'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);

function errorOf({ status, message }: Problem): JsonObject {
  return { error: { code: status, message, status: statusNames.get(status) ?? 'INVALID_ARGUMENT' } };
}

const models: ModelList = {
  path: '/v1beta/models',
  maker: 'google',
  writeList: (listed) => ({ models: listed.map(writeModel) }),
  write: writeModel,
  unknown: (id) => ({
    status: 404,
    message: `Model is not found: models/${id.slice(0, 200)} for api version v1beta`,
  }),
};

function writeModel({ id, windowTokens, maxInputTokens, maxOutputTokens }: ModelInfo): object {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: '001',
    displayName: id,
    inputTokenLimit: maxInputTokens ?? windowTokens,
    outputTokenLimit: maxOutputTokens,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  };
}

function settingsOf(body: JsonObject): JsonObject {
  return asObject(body['generationConfig'] ?? body['generation_config']);
}

function readAsked({ body, model }: Accepted): Asked {
  const settings = settingsOf(body);
  const toolConfig = asObject(body['toolConfig'] ?? body['tool_config']);
  const { mode, allowedFunctionNames } = asObject(toolConfig['functionCallingConfig']);
  const allowed = asList(allowedFunctionNames);
  const offered = asList(body['tools']).flatMap((tool) =>
    asList(asObject(tool)['functionDeclarations']).flatMap(readTool),
  );
  const { candidateCount } = settings;
  return {
    tools:
      mode === 'NONE' ? [] : offered.filter(({ name }) => allowed.length === 0 || allowed.includes(name)),
    toolChoice: mode === 'ANY' ? 'forced' : 'free',
    mayCallInParallel: true,
    thinks: thinks(model, asObject(settings['thinkingConfig'])['thinkingBudget']),
    stopSequences: asList(settings['stopSequences']).flatMap((text) => asString(text) ?? []),
    choiceCount: typeof candidateCount === 'number' ? Math.min(Math.max(1, candidateCount), 8) : 1,
  };
}

function readTool(declaration: unknown): readonly OfferedTool[] {
  const { name, parametersJsonSchema, parameters } = asObject(declaration);
  return [{ name: asString(name) ?? '', schema: asObject(parametersJsonSchema ?? parameters) }];
}

/** Input and output have limits of their own; a prompt is held to the input's alone. */
function outputRoom(
  promptTokens: number,
  { body, model }: Accepted,
  { inputTokens }: ModelLimits,
): OutputRoom | Refused {
  if (promptTokens > inputTokens) {
    const message = `The input token count (${promptTokens}) exceeds the maximum number of tokens allowed (${inputTokens}).`;
    return { problem: { status: 400, message } };
  }
  const most = findModel(model)?.maxOutputTokens ?? defaultOutputTokens;
  const wanted = settingsOf(body)['maxOutputTokens'];
  return { tokens: typeof wanted === 'number' ? Math.min(wanted, most) : most, stop: 'length' };
}

const defaultOutputTokens = 8192;
