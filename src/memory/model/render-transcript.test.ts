import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import { renderTranscript, shorten } from './render-transcript.ts';

const read = (list: readonly unknown[]) => list.map(anthropicMessages.readMessage);

describe('renderTranscript', () => {
  it('shows roles, calls and results, a line each', () => {
    const messages = deepFreeze(
      read([
        { role: 'user', content: 'fix the build' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'secret thoughts', signature: 's' },
            { type: 'text', text: 'looking' },
            { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a.ts' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'const a = 1;' }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't2', content: 'no', is_error: true }],
        },
      ]),
    );

    expect(renderTranscript(messages)).toBe(
      [
        'user: fix the build',
        'assistant: looking',
        '[called read_file with {"path":"a.ts"}]',
        'user: [tool result: const a = 1;]',
        'user: [tool error: no]',
      ].join('\n'),
    );
  });

  it('names media and unknown blocks, and shows what a text document says', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } };
    const plain = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } };
    const [message] = read([{ role: 'user', content: [image, pdf, plain, { type: 'novelty' }] }]);

    expect(renderTranscript([message!])).toBe('user: [image]\n[document]\n[document: words]\n[novelty]');
  });

  it('shows an image inside of a result', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const content = [{ type: 'text', text: 'shot' }, image];

    expect(
      renderTranscript(
        read([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] }]),
      ),
    ).toBe('user: [tool result: shot\n[image]]');
  });

  it('leaves out a message that is only reasoning', () => {
    const thinking = [{ type: 'thinking', thinking: 'hm', signature: 's' }];

    expect(renderTranscript(read([{ role: 'assistant', content: thinking }]))).toBe('');
  });

  it('shows arguments that are no JSON as they are', () => {
    const call = { id: 'c', type: 'function', function: { name: 'run', arguments: '{"half' } };
    const message = openaiChat.readMessage({ role: 'assistant', content: null, tool_calls: [call] });

    expect(renderTranscript([message])).toBe('assistant: [called run with {"half]');
  });

  it('survives an input that is no JSON value', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const block = { type: 'tool-call', id: 'c', name: 'f', input: cycle, runBy: 'client', raw: {} } as const;
    const message = {
      role: 'assistant',
      blocks: [block],
      responseId: undefined,
      usage: undefined,
      raw: {},
    } as const;

    expect(renderTranscript([message])).toContain('[called f with');
  });

  it('shortens what tools say, and never what people say', () => {
    const long = 'x'.repeat(10_000);
    const messages = read([
      { role: 'user', content: `ask ${long}` },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: `A${long}Z` }] },
    ]);

    const [asked = '', result = ''] = renderTranscript(messages, { maximumPartCharacters: 100 }).split('\n');

    expect(asked).toBe(`user: ask ${long}`);
    expect(result.length).toBeLessThan(200);
    expect(result).toMatch(/^user: \[tool result: Ax+ … \[9902 characters left out\] … x+Z\]$/);
  });
});

describe('shorten', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\u{1f600}', '\ud83d', '\ude00', 'ü'),
    maxLength: 400,
  });

  test.prop([text, fc.nat(300)])('keeps both ends and stays within its limit', (whole, limit) => {
    const short = shorten(whole, limit);
    if (short === whole) {
      expect(whole.length).toBeLessThanOrEqual(limit + 40);
      return;
    }
    const [, head = '', count, tail = ''] = / … \[(\d+) characters left out\] … /s.test(short)
      ? (/^(.*) … \[(\d+) characters left out\] … (.*)$/s.exec(short) ?? [])
      : [];
    expect(head.length + tail.length).toBeLessThanOrEqual(limit);
    expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
    expect(head.length + tail.length + Number(count)).toBe(whole.length);
  });

  const wide = fc.string({ unit: fc.constantFrom('a', '\u{1f600}'), minLength: 150, maxLength: 250 });

  test.prop([wide, fc.nat(100)])('never cuts a character in half', (whole, limit) => {
    expect(shorten(whole, limit)).not.toBe(whole);
    expect(shorten(whole, limit).isWellFormed()).toBe(true);
  });
});
