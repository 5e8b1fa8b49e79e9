import type { Attributes, Tracer, TracerProvider } from '@opentelemetry/api';
import type { ExchangeRecord, ProxyObserver } from '../record.ts';
import { short } from './account.ts';

/** Names of OpenTelemetry's conventions for generative AI, which may still change: they stand here and nowhere else. */
const attribute = {
  operation: 'gen_ai.operation.name',
  model: 'gen_ai.request.model',
  conversation: 'gen_ai.conversation.id',
  compacted: 'gen_ai.conversation.compacted',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  httpStatus: 'http.response.status_code',
  error: 'error.type',
  status: 'roundfold.status',
  reason: 'roundfold.reason',
  tokensReceived: 'roundfold.tokens.received',
  tokensSent: 'roundfold.tokens.sent',
  recoveries: 'roundfold.recoveries',
} as const;

/** As `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of the interface: types are all that is taken from it. */
const CLIENT_SPAN = 2;
const ERROR_STATUS = 2;

/**
 * Writes a span for every exchange where `@opentelemetry/api` is installed; undefined where it is not. The program that
 * starts the proxy says where spans go. No span holds content.
 */
export async function createTelemetry(
  provider?: TracerProvider,
): Promise<Pick<Required<ProxyObserver>, 'exchange'> | undefined> {
  const tracer = provider?.getTracer('roundfold') ?? (await installedTracer());
  if (tracer === undefined) return undefined;
  return { exchange: (record) => writeSpan(tracer, record) };
}

async function installedTracer(): Promise<Tracer | undefined> {
  try {
    const { trace } = await import('@opentelemetry/api');
    return trace.getTracer('roundfold');
  } catch {
    // It is optional: without it there are no spans.
    return undefined;
  }
}

function writeSpan(tracer: Tracer, record: ExchangeRecord): void {
  const { startedAt, totalMs, httpStatus } = record;
  const model = short(record.model);
  const name = record.kind === 'generate' ? `chat ${model ?? ''}`.trim() : record.kind;
  const span = tracer.startSpan(name, {
    kind: CLIENT_SPAN,
    startTime: startedAt,
    attributes: attributesOf(record),
  });
  if (httpStatus === undefined || httpStatus >= 400) span.setStatus({ code: ERROR_STATUS });
  span.end(startedAt + totalMs);
}

function attributesOf(record: ExchangeRecord): Attributes {
  const { usage, httpStatus } = record;
  const isError = httpStatus === undefined || httpStatus >= 400;
  const given: Readonly<Record<string, string | number | boolean | undefined>> = {
    [attribute.operation]: record.kind === 'generate' ? 'chat' : record.kind,
    [attribute.model]: short(record.model),
    [attribute.conversation]: record.conversation,
    [attribute.compacted]: record.status === 'folded' || record.status === 'reduced',
    [attribute.inputTokens]: usage?.promptTokens,
    [attribute.outputTokens]: usage?.outputTokens,
    [attribute.cacheRead]: usage?.cacheReadTokens,
    [attribute.cacheWrite]: usage?.cacheWriteTokens,
    [attribute.httpStatus]: httpStatus,
    [attribute.error]: isError ? String(httpStatus ?? 'no-answer') : undefined,
    [attribute.status]: record.status,
    [attribute.reason]: record.reason,
    [attribute.tokensReceived]: record.tokensReceived,
    [attribute.tokensSent]: record.tokensSent,
    [attribute.recoveries]: record.recoveries,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
