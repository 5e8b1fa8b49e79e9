import { describe, expect, it } from 'vitest';
import { withMessages, writeConversation } from '../../src/conversation/format.ts';
import { linkTools } from '../../src/conversation/tool-links.ts';
import { langchain } from '../../src/formats/langchain/format.ts';
import { langchainUpdate } from '../../src/formats/langchain/update.ts';
import { fixtureTitle } from '../fixtures/wire/fixture.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';
import { langchainFixtures } from '../fixtures/wire/langchain.ts';

const duplicates = langchainFixtures.filter(({ name }) => name === 'calls in the content and beside it');
const withOrder = langchainFixtures.find(({ name }) => name === 'an order to remove');

describe('LangChain fixtures', () => {
  it.each(duplicates.map((fixture) => ({ name: fixtureTitle(fixture), fixture })))(
    '$name: a call in two places counts once, an invalid one is no call, an artifact is no content',
    ({ fixture }) => {
      const { messages } = langchain.read(fixture.body);
      const [, , answer, read, linted] = messages;

      expect(answer?.blocks.map(({ type }) => type)).toEqual([
        'reasoning',
        'text',
        'tool-call',
        'tool-call',
        'other',
      ]);
      expect(answer?.usage).toEqual({ promptTokens: 1200, outputTokens: 80 });
      expect(linkTools(messages)).toMatchObject({ pairs: [{}, {}], unanswered: [], orphans: [] });
      expect(read?.blocks).toMatchObject([{ isError: false, content: [{ type: 'text' }] }]);
      expect(linted?.blocks).toMatchObject([
        { isError: true, content: [{ type: 'text', text: 'no configuration found' }] },
      ]);
    },
  );

  it.each(duplicates.map((fixture) => ({ name: fixtureTitle(fixture), fixture })))(
    '$name: a call that goes is gone from both places, and nothing else is',
    ({ fixture }) => {
      const answer = langchain.read(fixture.body).messages[2]!;
      const kept = answer.blocks.filter((block) => block.type !== 'tool-call' || block.id !== 'toolu_2');
      const { raw, blocks } = langchain.withBlocks(answer, kept);

      expect(JSON.stringify(raw)).not.toContain('toolu_2');
      expect(JSON.stringify(raw).match(/toolu_1/g)).toHaveLength(2);
      expect(JSON.stringify(raw)).toContain('toolu_9');
      expect(blocks).toHaveLength(answer.blocks.length - 1);
      expect(Object.keys(raw as object)).toEqual(Object.keys(answer.raw as object));
    },
  );

  it('an order to remove stays, and is nobody’s message', () => {
    const last = langchain.read(withOrder?.body).messages.at(-1);

    expect(last).toMatchObject({ role: 'system', blocks: [{ type: 'other', wireType: 'remove' }] });
  });

  it('what is dropped becomes orders by id, and what is new follows', () => {
    const conversation = langchain.read(withOrder?.body);
    const state = conversation.frame.list;
    const [note] = langchain.userMessages([langchain.textBlock('Go on.')]);
    const shorter = withMessages(conversation, [...conversation.messages.slice(0, 5), note!]);
    const { messages } = writeConversation(shorter) as { messages: readonly unknown[] };

    expect(langchainUpdate(state, messages)).toEqual([
      // The state's own order has removed h_1: to keep it is to put it back, in front of others.
      { type: 'remove', id: '__remove_all__' },
      ...messages,
    ]);
    expect(langchainUpdate(state.slice(0, 6), messages)).toEqual([
      { type: 'remove', id: 'msg_02buoy' },
      messages.at(-1),
    ]);
  });

  it('a summary in front takes the place of everything before', () => {
    const state = langchain.read(withOrder?.body).frame.list.slice(0, 6);
    const summary = { type: 'human', content: 'Summary: number 7 is given twice.' };

    expect(langchainUpdate(state, [state[0], summary, state[5]])).toEqual([
      { type: 'remove', id: '__remove_all__' },
      state[0],
      summary,
      state[5],
    ]);
  });
});

describe('recognition', () => {
  const foreign = [...fixtureLists].flatMap(([format, fixtures]) =>
    format === langchain.name ? [] : fixtures,
  );

  it('knows no other format’s fixtures', () => {
    expect(foreign.filter(({ body }) => langchain.recognise(body) !== 'no').map(fixtureTitle)).toEqual([]);
  });
});
