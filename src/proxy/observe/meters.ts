import type { ExchangeRecord, RefusalRecord } from '../record.ts';
import type { Health } from './health.ts';
import type { TurnMoney } from './money.ts';
import { knownOr, passWords, refusalWords, statusWords } from './words.ts';

/** One line of numbers under a name. */
export interface Sample {
  /** Behind the name of its metric: `_bucket`, `_sum`; nothing for most. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric as Prometheus reads it. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

/** Wire formats a request can have: a name that is none of them counts as `other`. */
export type FormatNames = Readonly<Record<string, true>>;

const TOKEN_KINDS = ['received', 'sent', 'cache_read', 'cache_write'] as const;
const PREPARE_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FIRST_BYTE_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120];

/** Counts what a proxy does. What a label may say is a closed list, so that no request can add a series. */
export class Meters {
  readonly #formats: FormatNames;
  readonly #requests = new Map<
    string,
    { readonly labels: Readonly<Record<string, string>>; value: number }
  >();
  readonly #tokens: Record<(typeof TOKEN_KINDS)[number], number> = {
    received: 0,
    sent: 0,
    cache_read: 0,
    cache_write: 0,
  };
  readonly #cost = { direct: 0, sent: 0 };
  readonly #prepare = new Histogram(PREPARE_BOUNDS);
  readonly #firstByte = new Histogram(FIRST_BYTE_BOUNDS);

  constructor(formats: FormatNames) {
    this.#formats = formats;
  }

  exchange(record: ExchangeRecord, money: TurnMoney | undefined): void {
    const { format, status, reason, fault } = record;
    this.#countRequest(
      format,
      fault === undefined
        ? { status: knownOr(statusWords, status), reason: knownOr(passWords, reason) }
        : { status: 'refused', reason: 'no-answer' },
    );
    this.#prepare.add(record.prepareMs / 1000);
    if (record.firstByteMs !== undefined) this.#firstByte.add(record.firstByteMs / 1000);
    if (money !== undefined) {
      this.#cost.direct += money.direct;
      this.#cost.sent += money.sent;
    }
    // Counts of tokens are asked for without anything being sent to a model.
    if (record.kind !== 'generate') return;
    this.#tokens.received += count(record.tokensReceived);
    this.#tokens.sent += count(record.tokensSent);
    this.#tokens.cache_read += count(record.usage?.cacheReadTokens);
    this.#tokens.cache_write += count(record.usage?.cacheWriteTokens);
  }

  refused({ format, reason }: RefusalRecord): void {
    this.#countRequest(format, { status: 'refused', reason: knownOr(refusalWords, reason) });
  }

  /** What a model was paid for a summary is part of what was sent. */
  summary(cost = 0): void {
    this.#cost.sent += cost;
  }

  read(health: Health): readonly Metric[] {
    return [
      counter('roundfold_requests_total', 'Requests, by what became of them.', [...this.#requests.values()]),
      counter(
        'roundfold_input_tokens_total',
        'Input tokens: received and sent as estimated, cache reads and writes as the provider reported them.',
        TOKEN_KINDS.map((kind) => ({ labels: { kind }, value: this.#tokens[kind] })),
      ),
      counter(
        'roundfold_cost_usd_total',
        'List price of what was sent, summaries by models included, and of the same requests as they came. Sent may be the higher one.',
        (['direct', 'sent'] as const).map((side) => ({ labels: { side }, value: this.#cost[side] })),
      ),
      counter(
        'roundfold_compactions_total',
        'Compactions in the background, by how they ended.',
        Object.entries(health.compactions).map(([outcome, value]) => ({ labels: { outcome }, value })),
      ),
      counter(
        'roundfold_overflow_recoveries_total',
        'Overflow answers that were recovered from inside a request.',
        [{ value: health.recoveries }],
      ),
      counter(
        'roundfold_store_errors_total',
        'Times that the store failed, by what was asked of it.',
        Object.entries(health.storeErrors).map(([operation, value]) => ({ labels: { operation }, value })),
      ),
      histogram(
        'roundfold_prepare_seconds',
        'Time from the body of a request to its forwarding.',
        this.#prepare,
      ),
      histogram('roundfold_first_byte_seconds', 'Time to the first byte of the answer.', this.#firstByte),
      gauge('roundfold_active_streams', 'Answers that are under way.', health.activeStreams),
      gauge(
        'roundfold_breaker_open',
        'Conversations whose compactions pause because several in a row came to nothing.',
        health.paused,
      ),
    ];
  }

  #countRequest(
    format: string | undefined,
    outcome: { readonly status: string; readonly reason: string },
  ): void {
    const labels = { format: knownOr(this.#formats, format), ...outcome };
    const key = `${labels.format} ${labels.status} ${labels.reason}`;
    const known = this.#requests.get(key);
    if (known === undefined) this.#requests.set(key, { labels, value: 1 });
    else known.value++;
  }
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}

class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  add(value: number): void {
    this.#sum += value;
    this.#count++;
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index !== -1) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** Each bucket counts everything up to its bound. */
  samples(): readonly Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return { suffix: '_bucket', labels: { le: String(bound) }, value: below };
    });
    return [
      ...buckets,
      { suffix: '_bucket', labels: { le: '+Inf' }, value: this.#count },
      { suffix: '_sum', value: this.#sum },
      { suffix: '_count', value: this.#count },
    ];
  }
}

function counter(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, help, type: 'counter', samples };
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', samples: [{ value }] };
}

function histogram(name: string, help: string, values: Histogram): Metric {
  return { name, help, type: 'histogram', samples: values.samples() };
}
