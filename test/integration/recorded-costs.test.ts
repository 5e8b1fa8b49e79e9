import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../src/conversation/json.ts';
import { recordedCost } from '../../src/report/recorded-cost.ts';
import { findModel } from '../../src/tokens/catalog.ts';
import { readRecordingsOf } from '../../src/transcripts/recordings.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Every JSON object of a file, line by line; a line that holds two is left to the reader, and told. */
function recordsOf(path: string): readonly Fields[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').flatMap((line) => {
    // Two objects on one line, as two recordings have them.
    const parts = line.split(/(?<=\})(?=\{"(?:parentUuid|timestamp|type)":)/);
    return parts.flatMap((part) => {
      try {
        const value: unknown = JSON.parse(part);
        return isObject(value) ? [value] : [];
      } catch {
        return [];
      }
    });
  });
}

const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Dollars of one response, worked out anew: input, read, written for five minutes, for an hour, output. */
function dollarsOf(model: unknown, day: unknown, tokens: readonly number[]): number {
  const [input = 0, read = 0, short = 0, hour = 0, output = 0] = tokens;
  const prices = findModel(String(model), { on: String(day).slice(0, 10) })?.prices;
  if (prices === undefined) return 0;
  const step = prices.longContext;
  const rates = step !== undefined && input + read + short + hour > step.abovePromptTokens ? step : prices;
  const cheap = rates.cacheRead ?? rates.input;
  const dear = rates.cacheWrite ?? rates.input;
  const prompt = input * rates.input + read * cheap + short * dear + hour * (rates.cacheWriteLong ?? dear);
  return (prompt + output * rates.output) / 1e6;
}

function claudeSum(records: readonly Fields[]): number {
  const responses = new Map<string, number>();
  for (const record of records) {
    const usage = at(record, 'message', 'usage');
    if (record['type'] !== 'assistant' || !isObject(usage)) continue;
    const hour = count(at(usage, 'cache_creation', 'ephemeral_1h_input_tokens'));
    const written = count(usage['cache_creation_input_tokens']);
    const tokens = [
      usage['input_tokens'],
      usage['cache_read_input_tokens'],
      written - hour,
      hour,
      usage['output_tokens'],
    ];
    const cost = dollarsOf(at(record, 'message', 'model'), record['timestamp'], tokens.map(count));
    responses.set(`${String(at(record, 'message', 'id'))} ${String(record['requestId'])}`, cost);
  }
  return [...responses.values()].reduce((sum, cost) => sum + cost, 0);
}

function codexSum(records: readonly Fields[]): number {
  // A fork begins with a copy of its parent's records, written within the same second.
  const isFork = typeof at(records[0], 'payload', 'forked_from_id') === 'string';
  let model: unknown;
  let before = 'nothing';
  let sum = 0;
  for (const record of records) {
    if (record['type'] === 'turn_context') model = at(record, 'payload', 'model') ?? model;
    const info = at(record, 'payload', 'info');
    const last = at(info, 'last_token_usage');
    const total = JSON.stringify(at(info, 'total_token_usage'));
    if (at(record, 'payload', 'type') !== 'token_count' || !isObject(last) || total === before) continue;
    before = total;
    if (isFork && String(record['timestamp']).slice(0, 19) === String(records[0]?.['timestamp']).slice(0, 19))
      continue;
    const read = count(last['cached_input_tokens']);
    sum += dollarsOf(model, record['timestamp'], [
      count(last['input_tokens']) - read,
      read,
      0,
      0,
      count(last['output_tokens']),
    ]);
  }
  return sum;
}

function piSum(records: readonly Fields[]): number {
  return records.reduce((sum, record) => {
    const usage = at(record, 'message', 'usage');
    if (at(record, 'message', 'role') !== 'assistant' || !isObject(usage)) return sum;
    const tokens = [usage['input'], usage['cacheRead'], usage['cacheWrite'], 0, usage['output']].map(count);
    return sum + dollarsOf(at(record, 'message', 'model'), record['timestamp'], tokens);
  }, 0);
}

const sums = new Map([
  ['claude-code', claudeSum],
  ['codex-rollout', codexSum],
  ['pi-session', piSum],
]);

const isMissing = corpusFolder === undefined;
const recorded = corpusFiles().filter(({ file }) => sums.has(file.split('/')[0] ?? ''));

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  it.each(recorded)('$file costs what its usage comes to', async ({ file }) => {
    const path = corpusPath(file);
    let dollars = 0;
    for await (const { transcript } of readRecordingsOf(path))
      dollars += recordedCost(transcript.charges ?? []).dollars;
    const expected = sums.get(file.split('/')[0] ?? '')?.(recordsOf(path)) ?? Number.NaN;

    expect(dollars).toBeCloseTo(expected, 6);
  });
});
