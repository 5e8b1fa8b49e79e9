import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { applyDamages, damages, steps, writers } from '../../test/support/conversations.ts';
import type { Message } from '../conversation/message.ts';
import { linkTools } from '../conversation/tool-links.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { findFormat } from '../formats/registry.ts';
import { rememberedCuts } from './cut-memory.ts';
import { isCutBehindWhole, isWhole } from './whole-list.ts';

/** Every kind of message that binds others, under as few ids as can be. */
const kinds: readonly Message[] = [
  { role: 'user', content: 'a question' },
  { role: 'assistant', content: 'an answer' },
  { role: 'assistant', id: 'msg_1', content: 'a record of a response' },
  { role: 'assistant', content: [{ type: 'thinking', thinking: 'a thought', signature: 'c2ln' }] },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] },
  {
    role: 'assistant',
    id: 'msg_1',
    content: [{ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'a result' }] },
  {
    role: 'assistant',
    content: [
      { type: 'server_tool_use', id: 'a', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'a', content: [] },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 'a', name: 'read', input: {} },
      { type: 'tool_result', tool_use_id: 'a', content: 'a result' },
    ],
  },
  { role: 'assistant', content: [{ type: 'compaction', content: 'a summary' }] },
].map(anthropicMessages.readMessage);

/** Every list of up to so many of them. */
function* listsOf(length: number): Iterable<readonly Message[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (const shorter of listsOf(length - 1)) {
    yield shorter;
    if (shorter.length === length - 1) for (const kind of kinds) yield [...shorter, kind];
  }
}

const counts = { proven: 0, refused: 0, left: 0 };

/** What the rest alone tells is what a look at the whole list tells; it tells it wherever the rest is whole. */
function expectSame(messages: readonly Message[]): void {
  const cuts = rememberedCuts(messages);
  for (let cut = 1; cut <= messages.length; cut++) {
    if (!isWhole(messages.slice(0, cut))) continue;
    const isProven = isCutBehindWhole(messages, cut);
    if (isProven !== cuts.includes(cut)) {
      expect({ cut, isProven }).toEqual({ cut, isProven: false });
      expect(isWhole(messages.slice(cut))).toBe(false);
      counts.left++;
    } else counts[isProven ? 'proven' : 'refused']++;
  }
}

describe('a cut behind a whole beginning', () => {
  it('is seen from the rest as from the whole list, in every list of up to five messages', () => {
    for (const messages of listsOf(5)) expectSame(messages);
    expect(counts.proven).toBeGreaterThan(1000);
    expect(counts.refused).toBeGreaterThan(1000);
    expect(counts.left).toBeGreaterThan(100);
  });

  test.prop([steps, damages, fc.constantFrom(...Object.keys(writers))], { numRuns: 300 })(
    'is seen from the rest as from the whole list, in every format',
    (list, broken, name) => {
      const format = findFormat(name)!;
      expectSame(applyDamages(writers[name]?.(list) ?? [], broken).map((raw) => format.readMessage(raw)));
    },
  );
});

describe('a whole list', () => {
  it('has no call and no result without its other half', () => {
    for (const messages of listsOf(4)) {
      const { unanswered, orphans } = linkTools(messages);
      expect(isWhole(messages)).toBe(unanswered.length + orphans.length === 0);
    }
  });
});
