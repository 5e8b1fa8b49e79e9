import { test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Step, steps } from '../../../test/support/conversations.ts';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { writers } from '../../../test/support/step-writers.ts';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { readSummaryMessage, summaryMessageText } from '../../conversation/summary-message.ts';
import { findFormat, readConversation } from '../../formats/registry.ts';
import { memory } from '../../memory/summarizer.ts';
import type { Summarizer, SummaryRequest } from '../../memory/summary-request.ts';
import { changeOf, type Outcome, type Strategy } from '../plan/strategy.ts';
import { createStrategy } from '../strategies/registry.ts';
import { withRedaction } from './with-redaction.ts';

const SECRET = 'hunter2';
const redact = (text: string) => text.replaceAll(SECRET, '***');
const summarize = createStrategy('summarize', { keepRounds: 1, minGain: 0 });

/** Remembers what it is shown, and answers with the secret. */
function curious(text = `the password is ${SECRET}`) {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    name: 'curious',
    asksModel: true,
    async summarize(request) {
      requests.push(request);
      return { status: 'summarized', text, usage: { promptTokens: 8, outputTokens: 2 } };
    },
  };
  return { requests, context: strategyContext({ summarizer }) };
}

/** Everything in a request that could reach a model. */
function shownIn({ conversation, estimator: _estimator, ...request }: SummaryRequest): string {
  const { frame, messages } = conversation;
  return JSON.stringify([request, frame, messages, writeConversation(conversation)]);
}

/** The summaries in what a run made. */
const summariesIn = (outcome: Outcome) =>
  (changeOf(outcome)?.conversation.messages ?? []).flatMap((message) => readSummaryMessage(message) ?? []);

async function run(given: Conversation, strategy: Strategy = summarize, seen = redact) {
  const { requests, context } = curious();
  const outcome = await withRedaction(strategy, seen).compact(given, context);
  return { outcome, request: requests[0] };
}

/** The same steps with a secret in every text of theirs. */
const withSecrets = (list: readonly Step[]): readonly Step[] =>
  list.map(({ question, thinking, said, calls }) => ({
    question: question && `${question} ${SECRET}`,
    thinking: thinking && `${thinking} ${SECRET}`,
    said: said && `${said} ${SECRET}`,
    calls: calls.map((call) => ({
      ...call,
      path: `${call.path}/${SECRET}`,
      output: `${call.output}${SECRET}`,
    })),
  }));

describe.each(Object.entries(writers))('withRedaction in %s', (name, write) => {
  const format = findFormat(name)!;

  test.prop([steps], { numRuns: 80 })('shows no secret to the summarizer', async (list) => {
    const given = format.read(deepFreeze(write(withSecrets(list))));
    const before = JSON.stringify(given.messages);
    const { outcome, request } = await run(given);

    expect(JSON.stringify(given.messages)).toBe(before);
    if (request === undefined) return;
    expect(shownIn(request)).not.toContain(SECRET);
    expect(shownIn(request)).toContain('***');
    if (outcome.status !== 'compacted') return;
    const [summary, ...more] = summariesIn(outcome);
    expect(more).toEqual([]);
    // What is told around the prose comes from the conversation, and is redacted as well.
    expect(summary).toContain('\n- By a model: the password is ***');
    expect(summary).not.toContain(SECRET);
    // What stays is what it was, secrets included: it is not the business of a summarizer.
    for (const { fate, start, end } of outcome.receipt.runs) {
      if (fate !== 'verbatim') continue;
      const kept = new Set(outcome.conversation.messages.map(({ raw }) => raw));
      expect(given.messages.slice(start, end).every(({ raw }) => kept.has(raw))).toBe(true);
    }
  });

  test.prop([steps], { numRuns: 40 })(
    'shows the very same messages when there is no secret',
    async (list) => {
      const given = format.read(deepFreeze(write(list)));
      const { request } = await run(given);

      for (const message of request?.messages ?? []) expect(given.messages).toContain(message);
      for (const [index, message] of (request?.conversation.messages ?? []).entries()) {
        expect(message).toBe(given.messages[index]);
      }
    },
  );
});

const turns = (content: readonly unknown[], answer: unknown = 'done') => [
  { role: 'user', content: 'begin' },
  { role: 'assistant', content },
  { role: 'user', content: answer },
  { role: 'assistant', content: 'as you like' },
  { role: 'user', content: 'go on' },
  { role: 'assistant', content: 'all of it is done now' },
];

describe('withRedaction', () => {
  it.each([
    { title: 'the system prompt', body: { system: `be quiet about ${SECRET}` } },
    { title: 'a tool', body: { tools: [{ name: 'x', description: SECRET, input_schema: {} }] } },
    { title: 'a field that nobody knows', body: { metadata: { note: [{ deep: SECRET }] } } },
  ])('hides $title', async ({ body }) => {
    const given = readConversation(
      deepFreeze({ model: 'claude-x', ...body, messages: turns([{ type: 'text', text: 'well' }]) }),
      'anthropic-messages',
    );
    const { request } = await run(given);

    expect(shownIn(request!)).not.toContain(SECRET);
    expect(request?.conversation.frame.model).toBe('claude-x');
    expect(writeConversation(request!.conversation)).toMatchObject({ messages: { length: 6 } });
  });

  it.each([
    { title: 'a block of an unknown type', block: { type: 'strange', inner: { list: [SECRET] } } },
    { title: 'a document', block: { type: 'document', source: { type: 'text', data: SECRET } } },
    { title: 'an input that is no object', block: { type: 'tool_use', id: 'a', name: 'x', input: [SECRET] } },
    { title: 'a key of __proto__', block: JSON.parse(`{"type":"text","text":"","__proto__":"${SECRET}"}`) },
    { title: 'citations', block: { type: 'text', text: 'see', citations: [{ cited_text: SECRET }] } },
  ])('hides $title', async ({ block }) => {
    const { request } = await run(readConversation(deepFreeze(turns([block])), 'anthropic-messages'));

    expect(shownIn(request!)).toContain('***');
    expect(shownIn(request!)).not.toContain(SECRET);
  });

  it.each([
    { format: 'anthropic-messages', input: { password: 'abc', user: 'me' } },
    { format: 'openai-chat', input: '{"password":"abc","user":"me"}' },
  ])('sees the arguments of a call as JSON, with their names: $format', async ({ format, input }) => {
    const call = { id: 'c1', type: 'function', function: { name: 'login', arguments: input } };
    const list =
      format === 'openai-chat'
        ? turns([]).with(1, { role: 'assistant', content: null, tool_calls: [call] } as never)
        : turns([{ type: 'tool_use', id: 'c1', name: 'login', input }]);
    const seen = (text: string) => text.replaceAll('"password":"abc"', '"password":"***"');
    const { request } = await run(readConversation(deepFreeze(list), format), summarize, seen);
    const blocks = request!.messages.flatMap((message) => message.blocks);
    const read = blocks.find((block) => block.type === 'tool-call')?.input;

    expect(typeof read === 'string' ? JSON.parse(read) : read).toEqual({ password: '***', user: 'me' });
  });

  it('finds a call wherever a message of a class repeats it', async () => {
    const args = { token: SECRET };
    const raw = { id: 'c1', type: 'function', function: { name: 'x', arguments: JSON.stringify(args) } };
    class AIMessage {
      content = [{ type: 'tool_use', id: 'c1', name: 'x', input: args }];
      tool_calls = [{ id: 'c1', name: 'x', args, type: 'tool_call' }];
      additional_kwargs = { tool_calls: [raw] };
      lc_kwargs = { tool_calls: this.tool_calls };
      _getType() {
        return 'ai';
      }
    }
    const human = (content: string) => ({ type: 'human', content });
    const answer = { type: 'tool', tool_call_id: 'c1', content: 'ok' };
    const later = [
      human('go on'),
      { type: 'ai', content: 'done' },
      human('and'),
      { type: 'ai', content: 'so' },
    ];
    const list = [human('begin'), new AIMessage(), answer, ...later];
    const { request } = await run(readConversation(list, 'langchain'));

    expect(shownIn(request!)).not.toContain(SECRET);
    expect(request?.messages[0]).toMatchObject({
      role: 'assistant',
      blocks: [{ type: 'tool-call', id: 'c1', input: { token: '***' } }],
    });
    expect(JSON.stringify(list)).toContain(SECRET);
  });

  it('finds what JSON would hide behind an escape', async () => {
    const key = 'BEGIN\nKEY';
    const call = { id: 'c1', type: 'function', function: { name: 'x', arguments: JSON.stringify({ key }) } };
    const list = turns([]).with(1, { role: 'assistant', content: null, tool_calls: [call] } as never);
    const seen = (text: string) => text.replaceAll(key, '***');
    const { request } = await run(readConversation(deepFreeze(list), 'openai-chat'), summarize, seen);

    expect(shownIn(request!)).toContain('***');
    expect(shownIn(request!)).not.toContain('KEY');
  });

  it('keeps an input an object when what is left of it is no JSON', async () => {
    const list = turns([{ type: 'tool_use', id: 'c1', name: 'x', input: { a: SECRET } }]);
    const seen = (text: string) => (text.startsWith('{') ? 'nothing to see' : redact(text));
    const { request } = await run(readConversation(deepFreeze(list), 'anthropic-messages'), summarize, seen);

    expect(request?.messages[0]?.blocks[0]).toMatchObject({ input: { text: 'nothing to see' } });
  });

  it('leaves ids and bytes alone, so that pairs stay pairs and pictures pictures', async () => {
    const picture = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: `AA${SECRET}` },
    };
    const call = { type: 'tool_use', id: `id-${SECRET}`, name: 'x', input: { path: SECRET } };
    const result = { type: 'tool_result', tool_use_id: `id-${SECRET}`, content: [picture] };
    const list = turns([], [result]).with(1, {
      role: 'assistant',
      id: `msg-${SECRET}`,
      content: [call],
    } as never);
    const { request } = await run(readConversation(deepFreeze(list), 'anthropic-messages'));

    expect(request?.messages[0]?.raw).toMatchObject({ id: `msg-${SECRET}` });
    expect(request?.messages.flatMap(({ blocks }) => blocks)).toMatchObject([
      { id: `id-${SECRET}`, input: { path: '***' } },
      { callId: `id-${SECRET}`, content: [{ data: `AA${SECRET}` }] },
      { text: 'as you like' },
    ]);
  });

  it('still tells that the server holds a part of the history', async () => {
    const say = (role: string, content: string) => ({ type: 'message', role, content });
    const list = [
      { type: 'item_reference', id: 'msg_1' },
      say('user', 'begin'),
      say('assistant', `well, ${SECRET}`),
      say('user', 'go on'),
      say('assistant', 'done'),
    ];
    const given = readConversation(deepFreeze({ model: 'm', input: list }), 'openai-responses');
    const { request } = await run(given);

    expect(request?.conversation.frame.continues).toBe('item_reference');
  });

  it('never changes reasoning: it stays as it is, or goes', async () => {
    const clean = { type: 'thinking', thinking: 'hm', signature: `s${SECRET}` };
    const dirty = { type: 'thinking', thinking: `maybe ${SECRET}?`, signature: 'sig' };
    const { request } = await run(
      readConversation(deepFreeze(turns([clean, dirty, { type: 'text', text: 'so' }])), 'anthropic-messages'),
    );

    expect(request?.messages[0]?.blocks.map(({ raw }) => raw)).toEqual([clean, { type: 'text', text: 'so' }]);
  });

  it('leaves out a message that was nothing but such reasoning', async () => {
    const say = (role: string, content: string) => ({ type: 'message', role, content });
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: SECRET }] };
    const list = [say('user', 'begin'), thought, say('assistant', 'well'), say('user', 'go on')];
    const given = readConversation(
      deepFreeze({ input: [...list, say('assistant', 'done')] }),
      'openai-responses',
    );
    const { request } = await run(given);

    expect(request?.messages.map(({ raw }) => raw)).toEqual([say('assistant', 'well')]);
    expect(request?.conversation.messages).toHaveLength(4);
  });

  it('believes a view, not the raw value, about the usage', async () => {
    const usage = { input_tokens: 5, output_tokens: 5 };
    const list = turns([]).with(1, { role: 'assistant', content: SECRET, usage } as never);
    const given = readConversation(deepFreeze(list), 'anthropic-messages');
    const messages = given.messages.map((message) => ({ ...message, usage: undefined }));
    const { request } = await run({ ...given, messages });

    expect(request?.messages[0]).toMatchObject({ blocks: [{ text: '***' }], usage: undefined });
  });

  it('shows the earlier summary and the instructions redacted', async () => {
    const list = [
      { role: 'user', content: 'begin' },
      { role: 'user', content: summaryMessageText(`it was ${SECRET}`) },
      ...turns([{ type: 'text', text: 'well' }]),
    ];
    const inner = createStrategy('summarize', {
      keepRounds: 1,
      minGain: 0,
      instructions: `mind ${SECRET}`,
    });
    const { request } = await run(readConversation(deepFreeze(list), 'anthropic-messages'), inner);

    expect(request).toMatchObject({ previousSummary: 'it was ***', instructions: 'mind ***' });
    expect(shownIn(request!)).not.toContain(SECRET);
  });

  it.each([
    {
      title: 'cycles',
      left: { self: '[left out]' },
      make: (value: Record<string, unknown>) => Object.assign(value, { self: value, again: [value, value] }),
    },
    {
      title: 'a depth without end',
      left: {},
      make: (value: Record<string, unknown>) => {
        let inner: unknown = SECRET;
        for (let depth = 0; depth < 5000; depth++) inner = [inner];
        return Object.assign(value, { inner });
      },
    },
    {
      title: 'a big integer',
      left: {},
      make: (value: Record<string, unknown>) => Object.assign(value, { big: 1n }),
    },
  ])('is done with $title in a live value', async ({ make, left }) => {
    const input = make({ note: SECRET });
    const list = turns([{ type: 'tool_use', id: 'c1', name: 'x', input }]);
    const counted = { ...strategyContext().estimator, countBlock: () => 9, countMessage: () => 9 };
    const { requests, context } = curious();
    const estimator = { ...counted, countMessages: (all: readonly unknown[]) => all.length * 9 };
    await withRedaction(summarize, redact).compact(readConversation(list, 'anthropic-messages'), {
      ...context,
      estimator,
    });

    expect(requests[0]?.messages[0]?.blocks[0]).toMatchObject({ input: { note: '***', ...left } });
  });

  it('fails without having shown anything when redacting fails', async () => {
    const { requests, context } = curious();
    const strategy = withRedaction(summarize, () => {
      throw new Error('bad pattern');
    });
    const given = readConversation(turns([{ type: 'text', text: 'well' }]), 'anthropic-messages');

    expect(await strategy.compact(given, context)).toMatchObject({
      status: 'failed',
      reason: 'redaction-failed',
      message: expect.stringContaining('bad pattern'),
    });
    expect(requests).toEqual([]);
  });

  it.each(['summarize', 'collapse'])('leaves no secret in our own memory: %s', async (name) => {
    const list = turns(
      [{ type: 'text', text: `I found that the password is ${SECRET}. `.repeat(40) }],
      `Never print ${SECRET}.`,
    );
    const given = readConversation(deepFreeze([...list, ...turns([])]), 'anthropic-messages');
    const context = strategyContext({ summarizer: memory, ownSummarizer: memory });
    const strategy = createStrategy(name, { keepRounds: 1 });
    const [summary] = summariesIn(await withRedaction(strategy, redact).compact(given, context));

    expect(summary).toContain('Never print ***.');
    expect(summary).not.toContain(SECRET);
  });

  it('names the page of a message that was redacted', async () => {
    const found = { type: 'text', text: `I found that the password is ${SECRET}.` };
    const call = { type: 'tool_use', id: 'c1', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'word '.repeat(500) };
    const given = readConversation(deepFreeze(turns([found, call], [result])), 'anthropic-messages');
    const context = strategyContext({ summarizer: memory, handleFor: () => 'rf:abc' });
    const [summary] = summariesIn(await withRedaction(summarize, redact).compact(given, context));

    expect(summary).toMatch(/^- agent: I found that the password is \*\*\*\..*\(A\d+\)$/m);
  });

  it('does not take a summary of which nothing is left', async () => {
    const { context } = curious(SECRET);
    const strategy = withRedaction(summarize, (text) => text.replaceAll(SECRET, ''));
    const given = readConversation(turns([{ type: 'text', text: 'well' }]), 'anthropic-messages');

    expect(await strategy.compact(given, context)).toMatchObject({
      status: 'failed',
      reason: 'summary-empty',
      usage: { promptTokens: 8 },
    });
  });
});
