import type { Delivery } from './delivery.ts';
import type { Problem, Provider, ServerEvent } from './provider.ts';

/** What a predicate may choose requests by. */
export interface FaultTarget {
  /** Counts from 1, over the requests to the model endpoints. */
  readonly number: number;
  readonly format: string;
  readonly body: unknown;
}

/** Something that goes wrong on purpose. */
export interface Fault {
  readonly name: FaultName;
  /** Numbers of the requests it strikes, counted from 1, or a predicate. Default: all. */
  readonly on?: readonly number[] | ((request: FaultTarget) => boolean) | undefined;
  /** For `rate-limit`. Default 1. */
  readonly retryAfterSeconds?: number | undefined;
  /** For `slow-first-byte`. Default 1,000. */
  readonly delayMs?: number | undefined;
}

/** What a fault that refuses knows about the request. */
export interface RefusalContext {
  readonly model: string;
  readonly promptTokens: number;
}

/** Who answers, and how the answer would say that it failed. */
export interface DeliveryContext {
  readonly provider: Provider;
  readonly failed: (problem: Problem) => readonly ServerEvent[];
}

interface FaultKind {
  readonly summary: string;
  /** Refuses the request before anything else is looked at. */
  refuse?(fault: Fault, context: RefusalContext): Problem;
  /** Drops the oldest messages without a word when the prompt is too long. */
  readonly truncates?: boolean;
  /** Says that the prompt is too long in a stream that has begun, instead of refusing it. */
  readonly refusesLengthInStream?: boolean;
  /** Changes how the answer goes out. */
  deliver?(delivery: Delivery, fault: Fault, context: DeliveryContext): Delivery;
}

const overloaded: Problem = { status: 529, message: 'Overloaded' };
const tooLongInStream: Problem = {
  status: 400,
  code: 'context_length_exceeded',
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
};

/** Every fault. A new one is one row; the command line offers them by name. */
export const faultKinds = {
  'rate-limit': {
    summary: '429 with retry-after',
    refuse: ({ retryAfterSeconds = 1 }) => ({ ...rateLimit, retryAfterSeconds }),
  },
  'rate-limit-without-hint': { summary: '429 without retry-after', refuse: () => rateLimit },
  'tokens-per-minute': {
    summary: '429 that no waiting cures: the request is larger than the rate limit (OpenAI)',
    refuse: (_fault, { model, promptTokens }) => ({
      status: 429,
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message: `Request too large for ${model} in organization org-simulator on tokens per min (TPM): Limit ${rateOf(promptTokens)}, Requested ${promptTokens}. The input or output tokens must be reduced in order to run successfully.`,
    }),
  },
  'tokens-per-minute-413': {
    summary: 'the same as a 413 (Groq)',
    refuse: (_fault, { model, promptTokens }) => ({
      status: 413,
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message: `Request too large for model \`${model}\` in organization \`org_simulator\` service tier \`on_demand\` on tokens per minute (TPM): Limit ${rateOf(promptTokens)}, Requested ${promptTokens}, please reduce your message size and try again.`,
    }),
  },
  'server-error': {
    summary: '500',
    refuse: () => ({ status: 500, message: 'Internal server error' }),
  },
  overloaded: { summary: '529', refuse: () => overloaded },
  'too-long-vertex': {
    summary: '413 without numbers (Claude on Vertex)',
    refuse: () => ({ status: 413, type: 'invalid_request_error', message: 'Prompt is too long' }),
  },
  'too-long-bedrock': {
    summary: '400 without numbers (Claude on Bedrock)',
    refuse: () => ({ status: 400, message: bedrockText, body: { message: bedrockText } }),
  },
  'error-after-start': {
    summary: 'a stream that begins and then reports an error',
    deliver: (delivery, _fault, { provider }) => ({
      ...delivery,
      events: delivery.events && provider.errorEvents(delivery.events.slice(0, 1), overloaded),
    }),
  },
  'response-failed': {
    summary: 'a stream that begins and then says that the prompt is too long, whatever its length',
    deliver: (delivery, _fault, { failed }) => ({
      ...delivery,
      events: delivery.events && failed(tooLongInStream),
    }),
  },
  'too-long-in-stream': {
    summary: 'a prompt that is too long is told so by a stream that has begun, not by a 400',
    refusesLengthInStream: true,
  },
  'cut-stream': {
    summary: 'the connection breaks in the middle of the answer',
    deliver: (delivery) => ({ ...delivery, isCut: true }),
  },
  'empty-stream': {
    summary: '200 and a stream without a single event (LM Studio)',
    deliver: (delivery) => ({ ...delivery, events: delivery.events && [], streamEnd: undefined }),
  },
  'silent-truncation': {
    summary: 'a prompt that is too long loses its oldest messages without a word (Ollama)',
    truncates: true,
  },
  'slow-first-byte': {
    summary: 'the answer is a second late',
    deliver: (delivery, { delayMs = 1000 }) => ({ ...delivery, delayMs }),
  },
  'hostile-chunks': {
    summary: 'chunks of a few bytes, cut inside characters and lines',
    deliver: (delivery) => ({ ...delivery, chunking: 'hostile' }),
  },
  crlf: {
    summary: 'events with CRLF line ends',
    deliver: (delivery) => ({ ...delivery, endOfLine: '\r\n' }),
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

const bedrockText = 'Input is too long for requested model.';

const rateLimit: Problem = {
  status: 429,
  message: 'This request would exceed the rate limit of your organization. Please try again later.',
};

/** A rate limit that the request exceeds on its own. */
function rateOf(promptTokens: number): number {
  return Math.floor(promptTokens / 2);
}

/** Name of a fault. */
export type FaultName = keyof typeof faultKinds;

/** Whether a text is the name of a fault. */
export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faultKinds, name);
}

/** The faults that strike a request, in the order in which they were given. */
export function faultsOn(faults: readonly Fault[], request: FaultTarget): readonly Fault[] {
  return faults.filter(({ on }) => {
    if (on === undefined) return true;
    return typeof on === 'function' ? on(request) : on.includes(request.number);
  });
}

/** What a fault does. */
export function kindOf({ name }: Fault): FaultKind {
  return faultKinds[name];
}
