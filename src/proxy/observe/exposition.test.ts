import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exchangeRecord } from '../../../test/support/exchange-records.ts';
import { writeExposition } from './exposition.ts';
import { createLedger } from './ledger.ts';

interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text format by its own rules, character by character, and refuses whatever it does not know. */
function parse(text: string): {
  readonly lines: readonly Line[];
  readonly types: ReadonlyMap<string, string>;
} {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const lines: Line[] = [];
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) types.set(type[1] ?? '', type[2] ?? '');
    else if (!/^# HELP [a-z_]+ ./.test(line)) lines.push(parseLine(line));
  }
  return { lines, types };
}

function parseLine(line: string): Line {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw new Error(`no name: ${line}`);
  const { labels, end } =
    line[name.length] === '{' ? parseLabels(line, name.length + 1) : { labels: {}, end: name.length };
  const rest = line.slice(end);
  if (!/^ (?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]Inf|NaN)$/.test(rest))
    throw new Error(`no number: ${line}`);
  return { name, labels, value: Number(rest.trim().replace('Inf', 'Infinity')) };
}

function parseLabels(
  line: string,
  start: number,
): { readonly labels: Record<string, string>; readonly end: number } {
  const labels: Record<string, string> = {};
  let place = start;
  while (line[place] !== '}') {
    const label = /^[a-zA-Z_][a-zA-Z0-9_]*(?==")/.exec(line.slice(place))?.[0];
    if (label === undefined) throw new Error(`no label at ${place}: ${line}`);
    const { value, end } = parseQuoted(line, place + label.length + 2);
    labels[label] = value;
    place = line[end] === ',' ? end + 1 : end;
  }
  return { labels, end: place + 1 };
}

function parseQuoted(line: string, start: number): { readonly value: string; readonly end: number } {
  let value = '';
  let place = start;
  while (line[place] !== '"') {
    if (line[place] === undefined) throw new Error(`open value: ${line}`);
    const escaped =
      line[place] === '\\' ? { '\\': '\\', n: '\n', '"': '"' }[line[place + 1] ?? ''] : line[place];
    if (escaped === undefined) throw new Error(`unknown escape: ${line}`);
    value += escaped;
    place += line[place] === '\\' ? 2 : 1;
  }
  return { value, end: place + 1 };
}

describe('metrics', () => {
  it('have exactly the promised names and labels', () => {
    const ledger = createLedger();
    ledger.exchange(exchangeRecord());
    const { lines, types } = parse(writeExposition(ledger.metrics()));

    expect(Object.fromEntries(types)).toEqual({
      roundfold_requests_total: 'counter',
      roundfold_input_tokens_total: 'counter',
      roundfold_cost_usd_total: 'counter',
      roundfold_compactions_total: 'counter',
      roundfold_overflow_recoveries_total: 'counter',
      roundfold_store_errors_total: 'counter',
      roundfold_prepare_seconds: 'histogram',
      roundfold_first_byte_seconds: 'histogram',
      roundfold_active_streams: 'gauge',
      roundfold_breaker_open: 'gauge',
    });
    const labelled = lines.map(({ name, labels }) => `${name} ${Object.keys(labels)}`);
    expect([...new Set(labelled)]).toEqual([
      'roundfold_requests_total format,status,reason',
      'roundfold_input_tokens_total kind',
      'roundfold_cost_usd_total side',
      'roundfold_compactions_total outcome',
      'roundfold_overflow_recoveries_total ',
      'roundfold_store_errors_total operation',
      ...['prepare', 'first_byte'].flatMap((name) => [
        `roundfold_${name}_seconds_bucket le`,
        `roundfold_${name}_seconds_sum `,
        `roundfold_${name}_seconds_count `,
      ]),
      'roundfold_active_streams ',
      'roundfold_breaker_open ',
    ]);
  });

  it('are the ones that the guide lists, with their types', () => {
    const guide = readFileSync('docs/dashboard.md', 'utf8');
    const listed = [...guide.matchAll(/^\| `(roundfold_\w+)` +\| (\w+)/gm)].map(([, name, type]) => [
      name,
      type,
    ]);

    expect(listed).toEqual([...parse(writeExposition(createLedger().metrics())).types]);
  });

  it('count what was told', () => {
    const ledger = createLedger({ pricesFor: () => ({ prices: { input: 1, output: 0 } }) });
    const usage = { promptTokens: 400_000, outputTokens: 0, cacheReadTokens: 30, cacheWriteTokens: 4 };
    ledger.streamOpened();
    ledger.streamOpened();
    ledger.streamClosed();
    ledger.exchange(
      exchangeRecord({
        status: 'folded',
        tokensReceived: 800_000,
        tokensSent: 400_000,
        windowTokens: 1_000_000,
        usage,
        recoveries: 2,
        prepareMs: 30,
      }),
    );
    ledger.exchange(
      exchangeRecord({ kind: 'count', usage: undefined, prepareMs: 99_000, firstByteMs: undefined }),
    );
    const { lines } = parse(writeExposition(ledger.metrics()));
    const value = (name: string, labels = {}) =>
      lines.find((line) => line.name === name && JSON.stringify(line.labels) === JSON.stringify(labels))
        ?.value;

    const request = { format: 'anthropic-messages', status: 'folded', reason: 'none' };
    expect(value('roundfold_requests_total', request)).toBe(1);
    expect(value('roundfold_input_tokens_total', { kind: 'received' })).toBe(800_000);
    expect(value('roundfold_input_tokens_total', { kind: 'sent' })).toBe(400_000);
    expect(value('roundfold_input_tokens_total', { kind: 'cache_read' })).toBe(30);
    expect(value('roundfold_input_tokens_total', { kind: 'cache_write' })).toBe(4);
    expect(value('roundfold_cost_usd_total', { side: 'sent' })).toBeCloseTo(0.4, 10);
    expect(value('roundfold_cost_usd_total', { side: 'direct' })).toBeCloseTo(0.8, 10);
    expect(value('roundfold_overflow_recoveries_total')).toBe(2);
    expect(value('roundfold_active_streams')).toBe(1);
    expect(value('roundfold_prepare_seconds_bucket', { le: '0.025' })).toBe(0);
    expect(value('roundfold_prepare_seconds_bucket', { le: '0.05' })).toBe(1);
    expect(value('roundfold_prepare_seconds_bucket', { le: '10' })).toBe(1);
    expect(value('roundfold_prepare_seconds_bucket', { le: '+Inf' })).toBe(2);
    expect(value('roundfold_prepare_seconds_count')).toBe(2);
    expect(value('roundfold_prepare_seconds_sum')).toBeCloseTo(99.03, 6);
    expect(value('roundfold_first_byte_seconds_count')).toBe(1);
  });

  it('get no new series from what a request says', () => {
    const ledger = createLedger();
    const hostile = 'x"} 1\nroundfold_fake_total{a="';
    for (let index = 0; index < 500; index++)
      ledger.exchange(
        exchangeRecord({
          model: `${hostile}${index}`,
          client: `${hostile}${index}`,
          conversation: `secret-conversation-${index}`,
          tenant: `secret-tenant-${index}`,
          // Typed values, but other processes and later versions may tell others.
          ...({ format: `${hostile}${index}`, reason: `${hostile}${index}`, status: hostile } as object),
        }),
      );
    const text = writeExposition(ledger.metrics());

    const requests = parse(text).lines.filter(({ name }) => name === 'roundfold_requests_total');
    expect(requests).toEqual([
      {
        name: 'roundfold_requests_total',
        labels: { format: 'other', status: 'other', reason: 'other' },
        value: 500,
      },
    ]);
    expect(text).not.toMatch(/fake|secret/);
  });

  it('escape what a label says', () => {
    const labels = { a: 'back\\slash "quoted"\nnext' };
    const text = writeExposition([
      { name: 'm', help: 'h\\\nh', type: 'gauge', samples: [{ labels, value: 1 }] },
    ]);

    expect(text).toBe('# HELP m h\\\\\\nh\n# TYPE m gauge\nm{a="back\\\\slash \\"quoted\\"\\nnext"} 1\n');
    expect(parse(text).lines).toEqual([{ name: 'm', labels, value: 1 }]);
  });
});
