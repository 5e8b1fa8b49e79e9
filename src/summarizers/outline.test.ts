import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { Message } from '../core/message.ts';
import type { SummaryRequest } from '../core/summarizer.ts';
import { summaryMessageText } from '../core/summary-message.ts';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import { deepFreeze } from '../testing/deep-freeze.ts';
import { messagesOfShape } from '../testing/shapes.ts';
import { outline } from './outline.ts';

const estimator = createTokenEstimator();

function requestFor(messages: readonly Message[], changes: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    messages,
    conversation: anthropicMessages.read(messages.map(({ raw }) => raw)),
    previousSummary: undefined,
    instructions: undefined,
    maximumTokens: 2000,
    estimator,
    signal: undefined,
    ...changes,
  };
}

async function textOf(request: SummaryRequest): Promise<string> {
  const outcome = await outline.summarize(request);
  if (outcome.status === 'failed') throw new Error(`${outcome.reason}: ${outcome.message}`);
  return outcome.text;
}

const call = (id: string, name: string, input: unknown) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input }],
});
const result = (id: string, content: string, isError = false) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }],
});

const session = deepFreeze(
  [
    { role: 'user', content: 'Fix the login page. Never touch the database.' },
    call('t1', 'read_file', { path: 'src/login.ts' }),
    result('t1', `first line\n${'middle\n'.repeat(500)}last line\n`),
    call('t2', 'bash', { command: 'npm test' }),
    result('t2', 'Error: 2 tests failed\nsee above', true),
    call('t3', 'bash', { command: ['git', 'status'] }),
    { role: 'user', content: 'And be quick.' },
    { role: 'assistant', content: [{ type: 'text', text: 'Working on it.' }] },
  ].map(anthropicMessages.readMessage),
);

describe('outline', () => {
  it('asks no model', () => {
    expect(outline).toMatchObject({ name: 'outline', asksModel: false });
  });

  it('tells the user’s words, the errors, the calls and what was said last', async () => {
    expect(await textOf(requestFor(session))).toBe(
      [
        'The user wrote:',
        '- Fix the login page. Never touch the database.',
        '- And be quick.',
        '',
        'Errors:',
        '- bash npm test: failed: Error: 2 tests failed … see above',
        '',
        'Tool calls:',
        '- read_file src/login.ts: ok: first line … last line',
        '- bash git status: no result',
        '',
        'The assistant said last:',
        '- Working on it.',
      ].join('\n'),
    );
  });

  it('takes an earlier summary for nobody’s words', async () => {
    const [summary] = [{ role: 'user', content: summaryMessageText('he ordered pizza') }].map(
      anthropicMessages.readMessage,
    );

    expect(await textOf(requestFor([summary!, ...session]))).toBe(await textOf(requestFor(session)));
  });

  it('carries the previous summary on', async () => {
    const text = await textOf(requestFor(session, { previousSummary: 'It began on Monday.' }));

    expect(text.startsWith('Before that:\nIt began on Monday.\n\nThe user wrote:')).toBe(true);
  });

  it('keeps first and last lines when there are too many, and says how many are missing', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      role: 'user',
      content: `demand number ${index}`,
    }));
    const text = await textOf(requestFor(many.map(anthropicMessages.readMessage), { maximumTokens: 300 }));

    expect(text).toMatch(
      /^The user wrote:\n- demand number 0\n.*\n\(\d+ more left out\)\n.*- demand number 299$/s,
    );
    expect(estimator.countText(text)).toBeLessThanOrEqual(300);
  });

  it('shares a small number of tokens out among all of its parts', async () => {
    const list = Array.from({ length: 100 }, (_, index) => [
      { role: 'user', content: `demand number ${index}` },
      call(`a${index}`, 'read_file', { path: `src/file-${index}.ts` }),
      result(`a${index}`, 'contents'),
      call(`b${index}`, 'bash', { command: `test ${index}` }),
      result(`b${index}`, 'broken', true),
      { role: 'assistant', content: 'on we go' },
    ]).flat();

    const text = await textOf(requestFor(list.map(anthropicMessages.readMessage), { maximumTokens: 300 }));

    expect(text.match(/^[A-Z].*:$/gm)).toEqual([
      'The user wrote:',
      'Errors:',
      'Tool calls:',
      'The assistant said last:',
    ]);
  });

  it.each([
    { title: 'empty', messages: [], maximumTokens: 1000, reason: 'empty' },
    { title: 'empty for want of room', messages: session, maximumTokens: 1, reason: 'empty' },
    { title: 'not-smaller', messages: messagesOfShape('u'), maximumTokens: 1000, reason: 'not-smaller' },
  ])('fails as $title', async ({ messages, maximumTokens, reason }) => {
    expect(await outline.summarize(requestFor(messages, { maximumTokens }))).toMatchObject({
      status: 'failed',
      reason,
      usage: undefined,
    });
  });

  it('stops when it is aborted', async () => {
    expect(await outline.summarize(requestFor(session, { signal: AbortSignal.abort() }))).toMatchObject({
      reason: 'aborted',
    });
  });

  const text = fc.string({
    unit: fc.constantFrom('word ', '\n', 'ü', '\u{1f600}', '-', '漢'),
    maxLength: 300,
  });
  const message = fc.oneof(
    text.map((content) => ({ role: 'user', content })),
    text.map((content) => ({ role: 'assistant', content })),
    fc.tuple(fc.nat(5), text).map(([id, path]) => call(`t${id}`, 'read', { path })),
    fc
      .tuple(fc.nat(5), text, fc.boolean())
      .map(([id, content, isError]) => result(`t${id}`, content, isError)),
  );

  test.prop([fc.array(message, { maxLength: 40 }), fc.integer({ min: 1, max: 1500 }), text])(
    'stays within its tokens, is smaller than its source, and is the same every time',
    async (list, maximumTokens, previousSummary) => {
      const messages = deepFreeze(list.map(anthropicMessages.readMessage));
      const request = requestFor(messages, { maximumTokens, previousSummary });

      const outcome = await outline.summarize(request);

      expect(await outline.summarize(request)).toEqual(outcome);
      if (outcome.status === 'failed') {
        expect(outcome.reason).not.toBe('too-large');
        return;
      }
      const source = estimator.countMessages(messages) + estimator.countText(previousSummary);
      expect(estimator.countText(outcome.text)).toBeLessThanOrEqual(maximumTokens);
      expect(estimator.countText(outcome.text)).toBeLessThan(source);
      expect(outcome.text.isWellFormed()).toBe(true);
    },
  );
});
