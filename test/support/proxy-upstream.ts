import type { Answer } from '../../src/proxy/answer.ts';
import type { RawHeaders } from '../../src/proxy/headers.ts';

/** What the next answers of upstream come to. */
export interface UpstreamPlan {
  readonly kind:
    | 'fine'
    | 'limited'
    | 'broken'
    | 'overloaded'
    | 'cut'
    | 'stalled'
    | 'no-connection'
    /** Says that a prompt is too long, however short it is. */
    | 'refusing';
  readonly milliseconds: number;
  readonly streams: boolean;
  /** In whose words it says that a prompt is too long. */
  readonly wording: OverflowWording;
}

/** How a request was counted by upstream. */
export interface Counted {
  readonly tokens: number;
  readonly windowTokens: number;
}

const wordings = {
  /** Anthropic. */
  numbered: ({ tokens, windowTokens }: Counted) => ({
    status: 400,
    message: `prompt is too long: ${tokens} tokens > ${windowTokens} maximum`,
  }),
  /** Claude on Vertex. */
  bare: () => ({ status: 413, message: 'Prompt is too long' }),
  /** As an event of a stream that has begun. */
  event: ({ tokens, windowTokens }: Counted) => ({
    status: 200,
    message: `prompt is too long: ${tokens} tokens > ${windowTokens} maximum`,
  }),
} as const;

export type OverflowWording = keyof typeof wordings;
export const overflowWordings = Object.keys(wordings) as readonly OverflowWording[];

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const JSON_HEADERS = ['content-type', 'application/json', 'request-id', 'req_1'];
const EVENT_HEADERS = ['content-type', 'text/event-stream; charset=utf-8'];
const FAILURES = {
  limited: { status: 429, type: 'rate_limit_error' },
  broken: { status: 500, type: 'api_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
} as const;

/** An answer that exists as a whole from its beginning. */
export class WorldAnswer implements Answer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly chunks: readonly Uint8Array[];
  /** Whether it ends before its time. */
  readonly isCut: boolean;
  isDiscarded = false;

  constructor(status: number, headers: RawHeaders, text: string, isCut = false) {
    this.status = status;
    this.headers = headers;
    this.isCut = isCut;
    const bytes = encoder.encode(text);
    const whole = [bytes.subarray(0, 40), bytes.subarray(40, 200), bytes.subarray(200)];
    this.chunks = whole.slice(0, isCut ? 2 : 3).filter(({ length }) => length > 0);
  }

  async peek(): Promise<string | undefined> {
    return this.isCut ? undefined : this.#text(this.chunks.length);
  }

  async peekEvents(isEnough: (text: string) => boolean): Promise<string | undefined> {
    for (let count = 1; count <= this.chunks.length; count++)
      if (isEnough(this.#text(count))) return this.#text(count);
    return this.#text(this.chunks.length);
  }

  discard(): void {
    this.isDiscarded = true;
  }

  #text(count: number): string {
    return decoder.decode(Buffer.concat(this.chunks.slice(0, count)));
  }
}

/** What upstream answers to a request that it has counted. Undefined: nothing, ever. */
export function answerTo(plan: UpstreamPlan, counted: Counted): WorldAnswer | undefined {
  const { kind, streams } = plan;
  if (kind === 'stalled') return undefined;
  if (kind === 'limited' || kind === 'broken' || kind === 'overloaded') {
    const { status, type } = FAILURES[kind];
    return new WorldAnswer(status, JSON_HEADERS, failure(type, 'Try again later'));
  }
  if (kind === 'refusing') return refusalOf('bare', counted);
  if (counted.tokens > counted.windowTokens) return refusalOf(plan.wording, counted);
  const usage = { input_tokens: counted.tokens, output_tokens: 10 };
  const isCut = kind === 'cut';
  if (!streams)
    return new WorldAnswer(200, JSON_HEADERS, JSON.stringify({ type: 'message', content: [], usage }), isCut);
  const events = [
    { type: 'message_start', message: { type: 'message', content: [], usage } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I have read it all.' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ];
  return new WorldAnswer(200, EVENT_HEADERS, events.map(toEvent).join(''), isCut);
}

function refusalOf(wording: OverflowWording, counted: Counted): WorldAnswer {
  const { status, message } = wordings[wording](counted);
  const text = failure('invalid_request_error', message);
  if (status !== 200) return new WorldAnswer(status, JSON_HEADERS, text);
  return new WorldAnswer(200, EVENT_HEADERS, `event: error\ndata: ${text}\n\n`);
}

function failure(type: string, message: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' });
}

function toEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
