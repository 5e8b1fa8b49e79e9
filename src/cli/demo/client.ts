import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { askAnthropic } from '../../providers/anthropic.ts';

/** Sends request bodies of the Anthropic Messages API. */
export interface DemoClient {
  /**
   * The answer as it came.
   * @throws whatever the client makes of a refusal; `refusalIn` reads it
   */
  send(body: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

/** Whoever speaks to the provider. */
export interface ClientMaker {
  readonly name: string;
  /** Whether it is the provider's own. */
  readonly isSdk: boolean;
  connect(url: string): DemoClient;
}

/** What is needed of the SDK. */
type SdkConstructor = new (
  options: JsonObject,
) => {
  readonly messages: {
    create(body: JsonObject, options: { readonly signal: AbortSignal }): Promise<unknown>;
  };
};

/** No dependency of ours: used where it is installed, so the name must not look like an import to whoever bundles us. */
const SDK: string = '@anthropic-ai/sdk';

/** Nobody checks it, and no key of the user's may be sent instead. */
const API_KEY = 'demo';

/** The Anthropic SDK where it is installed, else a client of our own. */
export async function findClient(): Promise<ClientMaker> {
  const Sdk = await importSdk();
  return Sdk === undefined ? ownClient : sdkClient(Sdk);
}

async function importSdk(): Promise<SdkConstructor | undefined> {
  try {
    const module: unknown = await import(SDK);
    const found = isObject(module) ? module['default'] : undefined;
    return typeof found === 'function' ? (found as SdkConstructor) : undefined; // what its documentation promises
  } catch {
    return undefined;
  }
}

function sdkClient(Sdk: SdkConstructor): ClientMaker {
  return {
    name: 'the Anthropic SDK',
    isSdk: true,
    connect(baseURL) {
      const client = new Sdk({
        apiKey: API_KEY,
        baseURL,
        maxRetries: 0,
        logLevel: 'off',
        openTelemetry: false,
      });
      return { send: async (body, signal) => asObject(await client.messages.create(body, { signal })) };
    },
  };
}

const ownClient: ClientMaker = {
  name: "roundfold's own client",
  isSdk: false,
  connect: (baseUrl) => ({
    async send(body, signal) {
      const model = asString(body['model']) ?? '';
      const { message } = await askAnthropic({ model, baseUrl, apiKey: API_KEY }, body, { signal });
      return message;
    },
  }),
};

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** How the provider refused. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** The provider's own words in the error of either client; undefined when it is no refusal. */
export function refusalIn(thrown: unknown): Refusal | undefined {
  if (!isObject(thrown)) return undefined;
  // The SDK keeps status and body in the error itself, our client in its cause.
  const holder = isObject(thrown['cause']) ? thrown['cause'] : thrown;
  const body = isObject(holder['body']) ? holder['body'] : asObject(holder['error']);
  const error = asObject(body['error']);
  const status = asCount(holder['status']);
  const message = asString(error['message']);
  return status === 0 || message === undefined
    ? undefined
    : { status, type: asString(error['type']) ?? 'error', message };
}

/** A call in an answer. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** The calls in an answer. */
export function callsIn(answer: JsonObject): readonly AnsweredCall[] {
  return asList(answer['content'])
    .filter(isObject)
    .filter((block) => block['type'] === 'tool_use')
    .map(({ id, name, input }) => ({
      id: asString(id) ?? '',
      name: asString(name) ?? '',
      input: asObject(input),
    }));
}
