import type { Attributes, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import { trace } from '@opentelemetry/api';
import { afterAll, describe, expect, it } from 'vitest';
import { exchangeRecord } from '../../../test/support/exchange-records.ts';
import { createTelemetry } from './telemetry.ts';

interface Written {
  readonly name: string;
  readonly attributes: Attributes | undefined;
  readonly startTime: unknown;
  endTime?: unknown;
  status?: unknown;
}

/** What a program that exports spans hands to OpenTelemetry, keeping what it is told. */
function recordingProvider(): { readonly written: Written[]; getTracer(): Tracer } {
  const written: Written[] = [];
  const startSpan = (name: string, options: SpanOptions = {}) => {
    const entry: Written = { name, attributes: options.attributes, startTime: options.startTime };
    written.push(entry);
    const span = {
      setStatus(status: unknown) {
        entry.status = status;
        return span;
      },
      end(time: unknown) {
        entry.endTime = time;
      },
    };
    return span as unknown as Span;
  };
  return { written, getTracer: () => ({ startSpan }) as unknown as Tracer };
}

describe('spans', () => {
  afterAll(() => trace.disable());

  it('carry the names of the conventions for generative AI', async () => {
    const provider = recordingProvider();
    const telemetry = await createTelemetry(provider);
    const usage = { promptTokens: 900, outputTokens: 20, cacheReadTokens: 700, cacheWriteTokens: 100 };
    telemetry?.exchange(exchangeRecord({ status: 'folded', usage, startedAt: 1000, totalMs: 250 }));

    expect(provider.written).toEqual([
      {
        name: 'chat claude-sonnet-5-5',
        startTime: 1000,
        endTime: 1250,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'claude-sonnet-5-5',
          'gen_ai.conversation.id': 'c'.repeat(64),
          'gen_ai.conversation.compacted': true,
          'gen_ai.usage.input_tokens': 900,
          'gen_ai.usage.output_tokens': 20,
          'gen_ai.usage.cache_read.input_tokens': 700,
          'gen_ai.usage.cache_creation.input_tokens': 100,
          'http.response.status_code': 200,
          'roundfold.status': 'folded',
          'roundfold.tokens.received': 10_000,
          'roundfold.tokens.sent': 10_000,
          'roundfold.recoveries': 0,
        },
      },
    ]);
  });

  it('say that an exchange failed', async () => {
    const provider = recordingProvider();
    const telemetry = await createTelemetry(provider);
    telemetry?.exchange(exchangeRecord({ httpStatus: 529 }));
    telemetry?.exchange(exchangeRecord({ httpStatus: undefined }));

    expect(provider.written.map(({ status, attributes }) => [status, attributes?.['error.type']])).toEqual([
      [{ code: 2 }, '529'],
      [{ code: 2 }, 'no-answer'],
    ]);
  });

  it('go to the provider that the program has registered', async () => {
    const provider = recordingProvider();
    trace.setGlobalTracerProvider(provider);
    const telemetry = await createTelemetry();
    telemetry?.exchange(exchangeRecord({ kind: 'count', model: undefined }));

    expect(provider.written.map(({ name }) => name)).toEqual(['count']);
  });
});
