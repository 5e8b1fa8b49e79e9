import type { ExchangeRecord } from '../../src/proxy/record.ts';

/** A record of an unremarkable request, with whatever a test is about. */
export function exchangeRecord(given: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    startedAt: Date.UTC(2026, 10, 18, 12),
    kind: 'generate',
    format: 'anthropic-messages',
    tenant: 'a'.repeat(64),
    conversation: 'c'.repeat(64),
    client: 'claude-code',
    model: 'claude-sonnet-5-5',
    status: 'unchanged',
    reason: undefined,
    messages: 10,
    tokensReceived: 10_000,
    tokensSent: 10_000,
    tokensByKind: { instructions: 1000, tools: 2000, results: 7000 },
    windowTokens: 200_000,
    triggerTokens: 160_000,
    checkpoint: undefined,
    recoveries: 0,
    httpStatus: 200,
    usage: { promptTokens: 10_000, outputTokens: 100 },
    streamed: true,
    prepareMs: 3,
    firstByteMs: 300,
    totalMs: 2000,
    ...given,
  };
}
