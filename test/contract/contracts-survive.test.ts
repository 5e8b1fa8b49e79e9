import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { CheckContext, Contract, SealVerdict } from '../../src/contracts/contract.ts';
import { contracts } from '../../src/contracts/registry.ts';
import { isObject } from '../../src/conversation/json.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { applyMangles, mangles, oddLike } from '../support/odd-values.ts';

const verdicts: readonly SealVerdict[] = ['valid', 'modified', 'tampered', 'foreign-prefix', 'gap'];

/** What may be known about a request; every part of it matters to some contract. */
const anyContext: fc.Arbitrary<CheckContext> = fc.record(
  {
    scope: fc.constantFrom('request', 'messages'),
    model: fc.constantFrom('claude-fable-5', 'claude-opus-5-5', 'gemini-3-pro-preview', 'gpt-4o', 'o3', 'x'),
    apiVersion: fc.constantFrom('2023-06-01', '2026-10-21'),
    betas: fc.constantFrom([], ['compact-2026-01-12', 'interleaved-thinking-2025-05-14']),
    endpoint: fc.constantFrom('messages', 'count-tokens'),
    vendor: fc.constantFrom('azure', 'deepseek', 'mistral', 'openai', 'qwen', 'vertex'),
    stored: fc.boolean().map((isStored) => () => isStored),
    seals: fc.constantFrom(...verdicts).map((verdict) => () => verdict),
  },
  { requiredKeys: [] },
);

/** What the rules look at and no fixture holds. */
const rareSamples: Readonly<Record<string, readonly unknown[]>> = {
  'anthropic-messages': [
    {
      tool_choice: { type: 'tool', name: 'read_file' },
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', data: 'R0lG' } }] }],
    },
    { tool_choice: { type: 'any' }, messages: [] },
  ],
  'openai-chat': [{ messages: [{ role: 'function', name: 'probe', content: 'done' }] }],
};

/** Whatever was asked: the body is as it was, and every answer is plain data about a rule that is listed. */
function expectSoundAnswer(contract: Contract, body: unknown, context: CheckContext): void {
  const before = JSON.stringify(body);
  const hasNamelessField = isObject(body) && Object.hasOwn(body, '');
  const violations = contract.check(deepFreeze(body), context);

  expect(JSON.stringify(body)).toBe(before);
  expect(JSON.parse(JSON.stringify(violations))).toStrictEqual(violations);
  for (const { rule, severity, path, message, fix } of violations) {
    expect(contract.rules.map(({ id }) => id)).toContain(rule);
    expect(['error', 'warning', 'info']).toContain(severity);
    expect([message, fix]).not.toContain('');
    // A field's path is its name, and a stranger's field may be named ''.
    if (!hasNamelessField) expect(path).not.toBe('');
  }
}

describe.each(contracts)('the contract of $format', (contract) => {
  const fixtures = fixtureLists.get(contract.format)!;
  const samples = [...fixtures.map(({ body }) => body), ...(rareSamples[contract.format] ?? [])];
  const runs = { numRuns: 500 };

  it('lists every rule once, and reports no other', () => {
    const listed = contract.rules.map(({ id }) => id);
    const reported = fixtures.flatMap(({ body, context }) => contract.check(body, context));

    expect(listed).toEqual([...new Set(listed)]);
    expect(reported.filter(({ rule }) => !listed.includes(rule))).toEqual([]);
  });

  test.prop([fc.jsonValue(), anyContext], runs)('answers soundly to any JSON', (body, context) => {
    expectSoundAnswer(contract, body, context);
  });

  test.prop([oddLike(samples), anyContext], runs)(
    'answers soundly to what is almost a request',
    (body, context) => {
      expectSoundAnswer(contract, body, context);
    },
  );

  test.prop([fc.constantFrom(...fixtures), mangles, fc.option(anyContext, { nil: {} })], runs)(
    'answers soundly to requests that lost, doubled or swapped something',
    ({ body, context }, faults, other) => {
      expectSoundAnswer(contract, applyMangles(body, faults), { ...context, ...other });
    },
  );
});
