import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs';
import { RoundfoldError } from '../../conversation/errors.ts';
import { printableJson } from '../../conversation/printable.ts';
import type { ExchangeRecord, FoldEvent, ProxyObserver, RefusalRecord } from '../record.ts';
import { short } from './account.ts';
import { classOf } from './health.ts';

export interface LogOptions {
  /** Takes one line at a time. Default: standard error. */
  readonly write?: ((line: string) => void) | undefined;
  /** A file instead, which is appended to and can be read by its owner only. */
  readonly file?: string | undefined;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: (() => number) | undefined;
}

export interface RequestLog
  extends Pick<Required<ProxyObserver>, 'exchange' | 'refused' | 'keeperEvent' | 'windowLearnt'> {
  close(): void;
}

const OWNER_ONLY = 0o600;
/** Enough to find the lines of a conversation again. */
const SHOWN_HASH = 12;

/**
 * A log of one JSON object per line: every exchange, and what the keeper tells of folds and failures. The fields are a
 * closed list, none of them holds content or a credential, and no character in it ends a line or moves a cursor.
 * @throws RoundfoldError `usage` when the file cannot be opened
 */
export function createRequestLog(options: LogOptions = {}): RequestLog {
  const { now = Date.now } = options;
  const { write, close } = options.file === undefined ? lineWriter(options.write) : fileWriter(options.file);
  const put = (fields: object) => write(`${printableJson(JSON.stringify(fields))}\n`);
  return {
    exchange: (record) => put(exchangeFields(record)),
    refused: (record) => put(refusalFields(record)),
    keeperEvent(event) {
      const fields = eventFields(event);
      if (fields !== undefined) put({ at: timeOf(now()), event: event.type, ...fields });
    },
    windowLearnt: (model, windowTokens) =>
      put({ at: timeOf(now()), event: 'window-learnt', model: short(model), window: windowTokens }),
    close,
  };
}

interface Writer {
  write(line: string): void;
  close(): void;
}

function lineWriter(write: LogOptions['write'] = writeToStandardError): Writer {
  return { write, close: () => undefined };
}

function writeToStandardError(line: string): void {
  process.stderr.write(line);
}

function fileWriter(file: string): Writer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'a', OWNER_ONLY);
    fchmodSync(descriptor, OWNER_ONLY);
  } catch (error) {
    throw unwritable(file, error);
  }
  return {
    write(line) {
      if (descriptor === undefined) return;
      try {
        writeSync(descriptor, line);
      } catch {
        // A full disk must not fail requests, and there is no other place to say so.
      }
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function exchangeFields(record: ExchangeRecord): object {
  const { usage } = record;
  return {
    at: timeOf(record.startedAt),
    event: 'exchange',
    kind: record.kind,
    format: short(record.format),
    tenant: record.tenant?.slice(0, SHOWN_HASH),
    conversation: record.conversation?.slice(0, SHOWN_HASH),
    client: short(record.client),
    model: short(record.model),
    status: record.status,
    reason: record.reason,
    messages: record.messages,
    received: record.tokensReceived,
    sent: record.tokensSent,
    window: record.windowTokens,
    checkpoint: record.checkpoint?.slice(0, SHOWN_HASH),
    recoveries: record.recoveries,
    http: record.httpStatus,
    upstream: short(record.upstream),
    fault: short(record.fault),
    prompt: usage?.promptTokens,
    output: usage?.outputTokens,
    cacheRead: usage?.cacheReadTokens,
    cacheWrite: usage?.cacheWriteTokens,
    streamed: record.streamed,
    prepareMs: round(record.prepareMs),
    firstByteMs: round(record.firstByteMs),
    totalMs: round(record.totalMs),
  };
}

function refusalFields({ at, kind, format, client, reason, httpStatus }: RefusalRecord): object {
  return { at: timeOf(at), event: 'refused', kind, format: short(format), client, reason, http: httpStatus };
}

/** Undefined for events that say nothing beyond what the line of the exchange says. */
function eventFields(event: FoldEvent): object | undefined {
  switch (event.type) {
    case 'checkpoint-saved':
    case 'checkpoint-lost':
      return { conversation: event.conversation.slice(0, SHOWN_HASH), boundary: event.boundary };
    case 'checkpoint-refused':
      return {
        conversation: event.conversation.slice(0, SHOWN_HASH),
        boundary: event.boundary,
        reason: event.reason,
      };
    case 'summary-paid':
      return {
        tenant: event.tenant.slice(0, SHOWN_HASH),
        conversation: event.conversation.slice(0, SHOWN_HASH),
        model: short(event.model),
        prompt: event.usage.promptTokens,
        output: event.usage.outputTokens,
      };
    case 'compaction-failed':
      return { conversation: event.conversation.slice(0, SHOWN_HASH), error: classOf(event.error) };
    case 'compaction-paused':
      return {
        conversation: event.conversation?.slice(0, SHOWN_HASH),
        reason: short(event.reason),
        turns: event.turns,
      };
    case 'store-failed':
      return { operation: event.operation, error: classOf(event.error) };
    case 'prepare-failed':
      return { error: classOf(event.error) };
    default:
      return undefined;
  }
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Thousandths of a millisecond tell nothing. */
function round(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 10) / 10;
}

function unwritable(file: string, cause: unknown): RoundfoldError {
  return new RoundfoldError('usage', 'the log cannot be written', {
    cause,
    place: { source: file },
    remedy: 'Name a file in a folder that exists and that you may write to.',
  });
}
