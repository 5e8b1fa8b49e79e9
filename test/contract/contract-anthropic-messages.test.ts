import { describe, expect, it } from 'vitest';
import { modelFacts, unknownModel } from '../../src/contracts/anthropic-messages/models.ts';
import type { CheckContext, Violation } from '../../src/contracts/contract.ts';
import { anthropicMessagesContract as contract } from '../../src/contracts/registry.ts';
import {
  ask,
  assistant,
  call,
  pixel,
  request,
  result,
  text,
  tools,
  user,
} from '../fixtures/wire/anthropic-messages/parts.ts';
import { anthropicMessagesFixtures as fixtures } from '../fixtures/wire/anthropic-messages.ts';
import { fixtureTitle } from '../fixtures/wire/fixture.ts';
import { countReads } from '../support/count-reads.ts';

interface Case {
  readonly why: string;
  readonly rule: string;
  readonly path: string;
  readonly wording?: string;
  readonly body: unknown;
  readonly context?: CheckContext;
}

const errorsOf = (violations: readonly Violation[]): readonly Violation[] =>
  violations.filter(({ severity }) => severity === 'error');

const imageBlock = (data: string) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});
const images = (count: number, data: string) =>
  user(...Array.from({ length: count }, () => imageBlock(data)));
const encode = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64');
const ascii = (value: string): number[] => [...Buffer.from(value)];

/** Headers of images that are 3000 pixels wide and 100 high. */
const wideImages = {
  png: encode([
    0x89,
    ...ascii('PNG\r\n\u001a\n'),
    0,
    0,
    0,
    13,
    ...ascii('IHDR'),
    0,
    0,
    0x0b,
    0xb8,
    0,
    0,
    0,
    100,
  ]),
  gif: encode([...ascii('GIF89a'), 0xb8, 0x0b, 100, 0]),
  jpeg: encode([0xff, 0xd8, 0xff, 0xe0, 0, 4, 9, 9, 0xff, 0xc0, 0, 17, 8, 0, 100, 0x0b, 0xb8, 3]),
  'webp, extended': encode([
    ...ascii('RIFF'),
    0,
    0,
    0,
    0,
    ...ascii('WEBPVP8X'),
    10,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0xb7,
    0x0b,
    0,
    99,
    0,
    0,
  ]),
  'webp, lossless': encode([
    ...ascii('RIFF'),
    0,
    0,
    0,
    0,
    ...ascii('WEBPVP8L'),
    0,
    0,
    0,
    0,
    0x2f,
    0xb7,
    0xcb,
    0x18,
    0,
    0,
    0,
    0,
    0,
    0,
  ]),
  'webp, lossy': encode([
    ...ascii('RIFF'),
    0,
    0,
    0,
    0,
    ...ascii('WEBPVP8 '),
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0x9d,
    1,
    0x2a,
    0xb8,
    0x0b,
    100,
    0,
  ]),
};

const cases: readonly Case[] = [
  {
    why: 'no message',
    rule: 'no-messages',
    path: 'messages',
    wording: 'messages: at least one message is required',
    body: request([]),
  },
  {
    why: 'no list',
    rule: 'missing-field',
    path: 'messages',
    wording: 'messages: Field required',
    body: { model: 'claude-x', max_tokens: 1 },
  },
  {
    why: 'no max_tokens',
    rule: 'missing-field',
    path: 'max_tokens',
    wording: 'max_tokens: Field required',
    body: { model: 'claude-x', messages: [ask] },
    context: { endpoint: 'messages' },
  },
  {
    why: 'an answer that is to be streamed, without max_tokens',
    rule: 'missing-field',
    path: 'max_tokens',
    wording: 'max_tokens: Field required',
    body: { model: 'claude-x', messages: [ask], stream: true },
  },
  {
    why: 'max_tokens where tokens are only counted',
    rule: 'unknown-field',
    path: 'max_tokens',
    wording: 'max_tokens: Extra inputs are not permitted',
    body: { model: 'claude-x', messages: [ask], max_tokens: 1 },
    context: { endpoint: 'count-tokens' },
  },
  { why: 'no model', rule: 'missing-field', path: 'model', body: { max_tokens: 1, messages: [ask] } },
  {
    why: 'a result without its id',
    rule: 'missing-field',
    path: 'messages.0.content.0.tool_result.tool_use_id',
    wording: 'messages.0.content.0.tool_result.tool_use_id: Field required',
    body: request([user({ type: 'tool_result', content: 'ok' })]),
  },
  {
    why: 'a tool without a schema',
    rule: 'missing-field',
    path: 'tools.0.custom.input_schema',
    wording: 'tools.0.custom.input_schema: Field required',
    body: request([ask], { tools: [{ name: 'read_file' }] }),
  },
  {
    why: 'forced tool without a name',
    rule: 'missing-field',
    path: 'tool_choice.tool.name',
    body: request([ask], { tool_choice: { type: 'tool' } }),
  },
  {
    why: 'thinking without a budget',
    rule: 'missing-field',
    path: 'thinking.enabled.budget_tokens',
    body: request([ask], { thinking: { type: 'enabled' } }),
  },
  {
    why: 'an unknown role',
    rule: 'unknown-role',
    path: 'messages.0.role',
    wording: "messages.0.role: Input should be 'user' or 'assistant'",
    body: request([{ role: 'tool', content: 'ok' }]),
  },
  {
    why: 'a field of another API',
    rule: 'unknown-field',
    path: 'frequency_penalty',
    wording: 'frequency_penalty: Extra inputs are not permitted',
    body: request([ask], { frequency_penalty: 0 }),
  },
  {
    why: 'a note on a message',
    rule: 'unknown-field',
    path: 'messages.0.id',
    body: request([{ ...ask, id: 'm1' }]),
  },
  {
    why: 'a beta field without its header',
    rule: 'unknown-field',
    path: 'context_management',
    body: request([ask], { context_management: { edits: [] } }),
    context: { betas: [] },
  },
  {
    why: 'binding controls without their header',
    rule: 'unknown-field',
    path: 'thinking.block_binding',
    body: request([ask], { model: 'claude-opus-5-5', thinking: { type: 'adaptive', block_binding: {} } }),
    context: { betas: [] },
  },
  {
    why: 'an edit of another beta',
    rule: 'unknown-type',
    path: 'context_management.edits.0',
    body: request([ask], { context_management: { edits: [{ type: 'compact_20260112' }] } }),
    context: { betas: ['context-management-2025-06-27'] },
  },
  {
    why: 'a tool choice of another API',
    rule: 'unknown-type',
    path: 'tool_choice',
    wording:
      "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
    body: request([ask], { tool_choice: { type: 'required' } }),
  },
  {
    why: 'an unknown thinking type',
    rule: 'unknown-type',
    path: 'thinking',
    body: request([ask], { thinking: { type: 'hard' } }),
  },
  {
    why: 'an unknown cache type',
    rule: 'unknown-type',
    path: 'messages.0.content.0.cache_control',
    body: request([user({ ...text('Hm.'), cache_control: { type: 'forever' } })]),
  },
  {
    why: 'an image as system prompt',
    rule: 'unknown-type',
    path: 'system.0',
    body: request([ask], { system: [{ type: 'image' }] }),
  },
  {
    why: 'a word as tool choice',
    rule: 'wrong-kind-of-value',
    path: 'tool_choice',
    wording: 'tool_choice: Input should be an object',
    body: request([ask], { tool_choice: 'required' }),
  },
  {
    why: 'null as content',
    rule: 'wrong-kind-of-value',
    path: 'messages.0.content',
    body: request([{ role: 'user', content: null }]),
  },
  {
    why: 'a string as block',
    rule: 'wrong-kind-of-value',
    path: 'messages.0.content.0',
    body: request([user('Hm.')]),
  },
  {
    why: 'a string as input',
    rule: 'wrong-kind-of-value',
    path: 'messages.1.content.0.tool_use.input',
    body: request([ask, assistant({ ...call('toolu_01'), input: '{}' }), user(result('toolu_01'))]),
  },
  {
    why: 'a number in a result',
    rule: 'wrong-kind-of-value',
    path: 'messages.2.content.0.tool_result.content.0',
    body: request([ask, assistant(call('toolu_01')), user(result('toolu_01', [7]))]),
  },
  { why: 'a list as body', rule: 'wrong-kind-of-value', path: 'body', body: [] },
  {
    why: 'too many messages',
    rule: 'too-many-messages',
    path: 'messages',
    body: request(Array.from({ length: 100_001 }, () => ask)),
  },
  {
    why: 'a result said by the assistant',
    rule: 'block-in-wrong-role',
    path: 'messages.2',
    wording: 'messages.2: `tool_result` blocks can only be in `user` messages',
    body: request([ask, assistant(call('toolu_01')), assistant(result('toolu_01')), user(text('Go on.'))]),
  },
  {
    why: 'a call said by the user',
    rule: 'block-in-wrong-role',
    path: 'messages.0',
    wording: 'messages.0: `tool_use` blocks can only be in `assistant` messages',
    body: request([user(call('toolu_01')), user(result('toolu_01'))]),
  },
  {
    why: 'two tools of one name',
    rule: 'duplicate-tool-name',
    path: 'tools',
    wording: 'tools: Tool names must be unique.',
    body: request([ask], { tools: [tools[0], tools[0]] }),
  },
  {
    why: 'a tool name with a dot',
    rule: 'malformed-tool-name',
    path: 'tools.0.custom.name',
    body: request([ask], { tools: [{ ...tools[0], name: 'fs.read' }] }),
  },
  {
    why: 'a choice among no tools',
    rule: 'tool-choice-without-tools',
    path: 'tool_choice',
    wording: 'tool_choice may only be specified while providing tools.',
    body: request([ask], { tools: [], tool_choice: { type: 'auto' } }),
  },
  {
    why: 'a forced choice on a model without it',
    rule: 'forced-tool-choice-unsupported',
    path: 'tool_choice',
    wording: 'tool_choice: type "tool" and "any" are not supported for this model.',
    body: request([ask], { model: 'claude-fable-5-1', tool_choice: { type: 'any' } }),
  },
  {
    why: 'only deferred tools',
    rule: 'all-tools-deferred',
    path: 'tools',
    wording: 'All tools have defer_loading: true',
    body: request([ask], { tools: [{ ...tools[0], defer_loading: true }] }),
  },
  {
    why: 'an open object deep in a strict schema',
    rule: 'open-object-in-strict-schema',
    path: 'tools.0.custom',
    wording: "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false",
    body: request([ask], {
      tools: [
        {
          name: 'move',
          strict: true,
          input_schema: {
            type: 'object',
            additionalProperties: false,
            properties: {
              steps: { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'object' }] } },
            },
          },
        },
      ],
    }),
  },
  {
    why: 'more output than the model has',
    rule: 'output-limit-too-high',
    path: 'max_tokens',
    wording:
      'max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
    body: request([ask], { max_tokens: 64_001 }),
  },
  {
    why: 'an image over 10 MB',
    rule: 'images-over-limit',
    path: 'messages.0.content.0.image.source.base64',
    wording:
      'messages.0.content.0.image.source.base64: image exceeds 10 MB maximum: 10485761 bytes > 10485760 bytes',
    body: request([images(1, 'A'.repeat(10_485_761))]),
  },
  {
    why: 'an image over 5 MB on Vertex',
    rule: 'images-over-limit',
    path: 'messages.0.content.0.image.source.base64',
    body: { ...request([images(1, 'A'.repeat(5_242_881))]), anthropic_version: 'vertex-2023-10-16' },
  },
  {
    why: 'more images than a 200k model takes',
    rule: 'images-over-limit',
    path: 'messages.0.content.100',
    body: request([images(101, pixel)]),
  },
  ...Object.entries(wideImages).map(([format, data]) => ({
    why: `a wide image among many: ${format}`,
    rule: 'images-over-limit',
    path: 'messages.1.content.0.image.source.base64.data',
    wording:
      'messages.1.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    body: request([images(20, pixel), user(imageBlock(data))]),
  })),
  {
    why: 'sampling on a model without it',
    rule: 'unsupported-parameter',
    path: 'temperature',
    body: request([ask], { model: 'claude-opus-4-7', temperature: 0.2 }),
  },
  {
    why: 'manual thinking on a newer model',
    rule: 'thinking-mode-unsupported',
    path: 'thinking',
    wording:
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    body: request([ask], { model: 'claude-opus-4-7', thinking: { type: 'enabled', budget_tokens: 2048 } }),
  },
  {
    why: 'adaptive thinking on an older model',
    rule: 'thinking-mode-unsupported',
    path: 'thinking',
    wording: 'adaptive thinking is not supported on this model',
    body: request([ask], { thinking: { type: 'adaptive' } }),
  },
  {
    why: 'no thinking on a model that always thinks',
    rule: 'thinking-mode-unsupported',
    path: 'thinking',
    body: request([ask], { model: 'claude-fable-5', thinking: { type: 'disabled' } }),
  },
  {
    why: 'a small budget',
    rule: 'thinking-budget-out-of-bounds',
    path: 'thinking.enabled.budget_tokens',
    body: request([ask], { thinking: { type: 'enabled', budget_tokens: 1023 } }),
  },
  {
    why: 'a budget as large as the output',
    rule: 'thinking-budget-out-of-bounds',
    path: 'thinking.enabled.budget_tokens',
    wording: 'max_tokens must be greater than thinking.budget_tokens',
    body: request([ask], { tools: [], thinking: { type: 'enabled', budget_tokens: 4096 } }),
  },
  {
    why: 'a system message before a user message',
    rule: 'system-message-misplaced',
    path: 'messages.1',
    body: request([ask, { role: 'system', content: 'Hurry.' }, ask], { model: 'claude-opus-5' }),
  },
  {
    why: 'a call id with a colon',
    rule: 'malformed-tool-call-id',
    path: 'messages.1.content.0.tool_use.id',
    body: request([ask, assistant(call('call:1')), user(result('call:1'))]),
  },
  {
    why: 'a compaction with stop sequences',
    rule: 'invalid-compaction-request',
    path: 'stop_sequences',
    body: request([ask], {
      model: 'claude-opus-4-8',
      compaction: { type: 'summarize' },
      stop_sequences: ['END'],
    }),
  },
  {
    why: 'a compaction on an older model',
    rule: 'invalid-compaction-request',
    path: 'compaction',
    body: request([ask], { compaction: { type: 'summarize' } }),
  },
  {
    why: 'an early trigger',
    rule: 'invalid-context-edits',
    path: 'context_management.edits.0.trigger.value',
    body: request([ask], {
      context_management: {
        edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 49_999 } }],
      },
    }),
  },
  {
    why: 'thinking cleared second',
    rule: 'invalid-context-edits',
    path: 'context_management.edits.1',
    body: request([ask], {
      context_management: {
        edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'clear_thinking_20251015' }],
      },
    }),
  },
];

describe('Anthropic Messages contract: rules', () => {
  it('reports calls of one round in adjacent assistant messages as a warning', () => {
    const split = fixtures.find(({ variant }) => variant === 'calls split over two assistant messages');

    expect(contract.check(split?.body)).toMatchObject([
      { rule: 'tool-calls-split-over-messages', severity: 'warning', path: 'messages.2' },
    ]);
  });

  it.each(cases)('$rule for $why', ({ rule, path, wording, body, context }) => {
    const violations = contract.check(body, context);

    expect(violations.map((violation) => [violation.rule, violation.path])).toEqual([[rule, path]]);
    if (wording !== undefined) expect(violations[0]?.message).toBe(wording);
  });

  it('has a body for every rule it lists', () => {
    const broken = new Set([...fixtures, ...cases].map(({ rule }) => rule));

    expect(contract.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([
      'tool-calls-split-over-messages',
    ]);
  });

  it('lists every violation, in order of place', () => {
    const body = request(
      [
        assistant(text('')),
        user(result('toolu_09'), text(' ')),
        { role: 'oracle', content: [] },
        assistant(call('toolu_01')),
      ],
      { max_tokens: '1', tool_choice: { type: 'any' }, tools: null },
    );

    expect(contract.check(body).map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      'wrong-kind-of-value max_tokens',
      'missing-tool-definitions tools',
      'tool-choice-without-tools tool_choice',
      'first-message-not-user messages.0',
      'empty-text messages.0.content.0',
      'tool-result-without-call messages.1.content.0',
      'blank-text messages.1.content.1',
      'unknown-role messages.2.role',
      'empty-content messages.2',
      'tool-call-without-result messages.3',
    ]);
  });

  it.each([
    {
      why: 'a system message after a server tool result',
      body: request(
        [
          ask,
          assistant(
            { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
            { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
          ),
          { role: 'system', content: 'Hurry.' },
        ],
        { model: 'claude-opus-5' },
      ),
    },
    {
      why: 'two system messages in a row',
      body: request([ask, { role: 'system', content: 'Hurry.' }, { role: 'system', content: 'Please.' }], {
        model: 'claude-opus-5',
      }),
    },
    {
      why: 'a turn that goes on after a compaction stop',
      body: request([ask, assistant({ type: 'compaction', content: 'Done so far.' })], {
        model: 'claude-opus-5',
      }),
    },
    {
      why: 'a compaction request at the end of a turn',
      body: request([ask, assistant(text('Done.'))], {
        model: 'claude-opus-5',
        compaction: { type: 'summarize' },
      }),
    },
    {
      why: 'a budget that spans an interleaved loop',
      body: request([ask], { thinking: { type: 'enabled', budget_tokens: 9000 } }),
      context: { betas: ['interleaved-thinking-2025-05-14'] },
    },
    {
      why: 'a raised output limit',
      body: request([ask], { max_tokens: 128_000 }),
      context: { betas: ['output-128k-2025-02-19'] },
    },
    { why: 'a pre-warm request', body: request([ask], { max_tokens: 0 }) },
    {
      why: 'a Bedrock body',
      body: {
        anthropic_version: 'bedrock-2023-05-31',
        anthropic_beta: ['x'],
        max_tokens: 10,
        messages: [ask],
      },
    },
    { why: 'twenty images of any size', body: request([images(20, wideImages.png)]) },
    { why: 'an image that cannot be read, among many', body: request([images(21, 'not base64!')]) },
    {
      why: 'tools that a system message brings along',
      body: request(
        [
          ask,
          assistant(call('t1')),
          user(result('t1')),
          { role: 'system', content: [{ type: 'tool_addition', tool: { name: 'read_file' } }] },
        ],
        { model: 'claude-opus-4-8', tools: [] },
      ),
    },
  ])('accepts $why', ({ body, context }: { body: unknown; context?: CheckContext }) => {
    expect(contract.check(body, context)).toEqual([]);
  });

  it('leaves out what a bare message list cannot show', () => {
    const list = {
      messages: [
        { ...ask, uuid: '1' },
        assistant(call('toolu_01')),
        user(result('toolu_01')),
        assistant(text('Done. ')),
      ],
    };

    expect(contract.check(list, { scope: 'messages', model: 'claude-opus-5' })).toEqual([]);
    expect(contract.check(list.messages, { scope: 'messages' })).toEqual([]);
    const instructed = [ask, { role: 'system', content: 'Hurry.' }];
    expect(contract.check(instructed, { scope: 'messages', model: 'claude-sonnet-4-5' })).toEqual([]);
    expect(contract.check(list).map(({ rule }) => rule)).toEqual([
      'missing-field',
      'missing-field',
      'missing-tool-definitions',
      'unknown-field',
      'prefill-ends-in-whitespace',
    ]);
  });
});

describe('Anthropic Messages contract: a body without max_tokens', () => {
  const body = { model: 'claude-opus-4-8', system: 'Be brief.', tools, messages: [ask] };

  it('is refused as a request for an answer', () => {
    expect(contract.check(body, { endpoint: 'messages' })).toMatchObject([
      { rule: 'missing-field', path: 'max_tokens', severity: 'error' },
    ]);
  });

  it('is accepted as a request to count tokens', () => {
    expect(contract.check(body, { endpoint: 'count-tokens' })).toEqual([]);
  });

  it('is worth a word, and not illegal, where nobody says what it is for', () => {
    const violations = contract.check(body);

    expect(violations).toMatchObject([{ rule: 'missing-field', path: 'max_tokens', severity: 'info' }]);
    expect(violations[0]?.message).toContain('count_tokens');
  });

  it('is held to every other rule, whatever it is for', () => {
    const broken = { ...body, messages: [] };

    for (const endpoint of ['messages', 'count-tokens', undefined] as const) {
      expect(contract.check(broken, { endpoint }).map(({ rule }) => rule)).toContain('no-messages');
    }
  });
});

describe('model facts', () => {
  it.each([
    ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
    ['anthropic/claude-opus-4.6', 'claude-opus-4-6'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['claude-opus-4-1@20250805', 'claude-opus-4-1'],
    ['claude-opus-4-20250514', 'claude-opus-4'],
    ['arn:aws:bedrock:eu:1:inference-profile/eu.anthropic.claude-haiku-4-5', 'claude-haiku-4-5'],
  ])('%s reads as %s', (spelling, name) => {
    expect(modelFacts(spelling)).toBe(modelFacts(name));
    expect(modelFacts(name)).not.toBe(unknownModel);
  });

  it.each(['claude-opus-5-6', 'claude-opus-6', 'claude-opus-10', 'gpt-6', '', '__proto__'])(
    '%s is unknown',
    (name) => {
      expect(modelFacts(name)).toBe(unknownModel);
    },
  );
});

describe('Anthropic Messages contract: properties', () => {
  const partners = fixtures
    .filter(({ verdict }) => verdict === 'valid')
    .flatMap((fixture) => {
      const { messages, ...frame } = fixture.body as { readonly messages: readonly { content: unknown }[] };
      return messages.flatMap(({ content }, index) =>
        (Array.isArray(content) ? content : []).flatMap((block: { readonly type: string }, position) => {
          if (block.type !== 'tool_result' && block.type !== 'tool_use') return [];
          const without = { ...messages[index], content: (content as unknown[]).toSpliced(position, 1) };
          const body = { ...frame, messages: messages.with(index, without) };
          return [
            {
              title: `${fixtureTitle(fixture)}, messages.${index}.content.${position}`,
              type: block.type,
              body,
            },
          ];
        }),
      );
    });

  it.each(partners)('reports a $type taken out of $title', ({ type, body }) => {
    const rules = errorsOf(contract.check(body)).map(({ rule }) => rule);

    expect(rules).toContain(type === 'tool_use' ? 'tool-result-without-call' : 'tool-call-without-result');
  });

  it('reads each value a bounded number of times, however long the list is', () => {
    const short = readsOf(200);
    const long = readsOf(2000);

    expect(long / short).toBeLessThan(10.1);
  });

  it('survives nesting and lists that would exhaust the stack', () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 50_000; depth++) deep = { items: [deep] };
    const orphans = {
      role: 'user',
      content: Array.from({ length: 200_000 }, (_, index) => result(`toolu_${index}`)),
    };
    const body = request([orphans, assistant({ type: 'tool_use', id: deep, name: deep, input: deep })], {
      tool_choice: { type: { toString: deep } },
      tools: [{ name: 'deep', strict: true, input_schema: deep }],
    });

    expect(contract.check(body).length).toBeGreaterThan(200_000);
  });
});

/** Reads of a conversation of that many rounds by one check. */
function readsOf(rounds: number): number {
  const messages = Array.from({ length: rounds }, (_, index) => [
    assistant(call(`toolu_${index}`), call(`toolu_${index}_b`)),
    user(result(`toolu_${index}`), result(`toolu_${index}_b`)),
  ]).flat();
  return countReads(request([ask, ...messages]), (body) => expect(contract.check(body)).toEqual([]));
}
