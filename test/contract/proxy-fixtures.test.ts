import { describe, expect, it } from 'vitest';
import { legalCuts } from '../../src/conversation/cuts.ts';
import { writeConversation } from '../../src/conversation/format.ts';
import { ensureToolResultPairing } from '../../src/conversation/pairing.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import { readConversation } from '../../src/formats/registry.ts';
import { createEventSplitter } from '../../src/providers/event-stream.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

/** What reading a conversation owes to the fixtures about forwarding; 62, 64–66 and 70 stand in `overflow.test.ts`. */
describe('fixtures about forwarding, as far as reading goes', () => {
  it('63 p-recover-400: the error tells by how much the retry must be smaller, and the second one again', () => {
    const refusal = (actual: number) => ({
      status: 400,
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: `prompt is too long: ${actual} tokens > 200000 maximum`,
        },
      },
    });

    expect(parseOverflow(refusal(213_462))).toMatchObject({
      kind: 'prompt-too-long',
      limitTokens: 200_000,
      excessTokens: 13_462,
    });
    expect(parseOverflow(refusal(200_001))).toMatchObject({ kind: 'prompt-too-long', excessTokens: 1 });
  });

  it('67 p-sse-bytes: a stream that is only watched passes byte for byte, whatever is in it and wherever it is cut', () => {
    const stream = new TextEncoder().encode(
      'event: message_start\ndata: {"type":"message_start"}\n\n: keep-alive\n\nevent: ping\r\ndata: {}\r\n\r\nevent: from_the_future\ndata: "日本 🎈"\n\n',
    );
    const splitter = createEventSplitter();
    const events = [...stream].flatMap((byte) => splitter.push(Uint8Array.of(byte)));

    expect(Buffer.concat(events.map(({ raw }) => raw)).equals(stream)).toBe(true);
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ['message_start', '{"type":"message_start"}'],
      [undefined, ''],
      ['ping', '{}'],
      ['from_the_future', '"日本 🎈"'],
    ]);
  });

  it('68 p-stable-prefix: 20 turns keep the bytes, the rounds and the cuts of what was there before', () => {
    const messages: unknown[] = [{ role: 'user', content: 'Watch the kiln.' }];
    let before = '[';
    let roundsBefore: unknown[] = [];
    let cutsBefore: readonly number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      messages.push(
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `toolu_${turn}`, name: 'probe', input: { turn } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `toolu_${turn}`, content: `${900 + turn} °C` }],
        },
      );
      const conversation = readConversation([...messages]);
      const bytes = JSON.stringify(writeConversation(conversation));
      const rounds = groupRounds(conversation.messages);
      const cuts = legalCuts(conversation.messages);

      expect(bytes.startsWith(before)).toBe(true);
      expect(rounds.slice(0, roundsBefore.length)).toEqual(roundsBefore);
      expect(cuts.slice(0, cutsBefore.length)).toEqual(cutsBefore);
      before = bytes.slice(0, -1);
      roundsBefore = [...rounds];
      cutsBefore = cuts;
    }
  });

  const result = { type: 'function_call_output', call_id: 'on_the_server', output: 'x' };
  const question = { role: 'user', content: 'and now?' };

  it.each([
    {
      request: 'a thread',
      body: { thread: { id: 't' }, system: 's', messages: [question] },
      field: 'continues',
    },
    {
      request: 'a stored response',
      body: { previous_response_id: 'resp_1', input: [result] },
      field: 'continues',
    },
    {
      request: 'a stored conversation',
      body: { conversation: 'conv_1', input: [result] },
      field: 'continues',
    },
    {
      request: 'an item reference',
      body: { input: [{ type: 'item_reference', id: 'fc_1' }, result] },
      field: 'continues',
    },
    {
      request: 'cached content',
      body: { cachedContent: 'c', contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
      field: 'continues',
    },
    {
      request: 'compaction by an edit',
      body: {
        context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }] },
        system: 's',
        messages: [question],
      },
      field: 'managedBy',
    },
    {
      request: 'compaction on demand',
      body: { compaction: { type: 'summarize' }, system: 's', messages: [question] },
      field: 'managedBy',
    },
    {
      request: 'compaction by threshold',
      body: { context_management: [{ type: 'compaction' }], input: [question] },
      field: 'managedBy',
    },
  ] as const)('69 p-stand-aside: $request is noticed and the body stays as it is', ({ body, field }) => {
    const conversation = readConversation(deepFreeze(body));

    expect(conversation.frame[field]).toBeDefined();
    expect(writeConversation(ensureToolResultPairing(conversation))).toBe(body);
  });
});
