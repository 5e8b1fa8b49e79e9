import { describe, expect, it } from 'vitest';
import { foldView } from '../../src/formats/folded/fold.ts';
import { openaiChat } from '../../src/formats/openai-chat/format.ts';
import { keeping, noncesIn, telling, told } from '../support/keeping.ts';

/** A question and so many rounds of one call each with an answer behind it, in native messages. */
function native(rounds: number): readonly unknown[] {
  const list: unknown[] = [];
  for (let round = 0; round < rounds; round++) {
    const nonce = list.length;
    const call = { id: `call_${round}`, type: 'function', function: { name: 'ask_expert', arguments: '{}' } };
    list.push(
      { role: 'user', content: told(nonce) },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: told(nonce + 2) },
      { role: 'assistant', content: told(nonce + 3) },
    );
  }
  list.push({ role: 'user', content: told(list.length) });
  return list;
}

/** The same conversation with its calls in the texts of the answers. */
function folded(rounds: number): readonly unknown[] {
  const view = foldView(openaiChat.read(native(rounds)));
  if (view.status === 'refused') throw new Error(`not folded: ${view.index}`);
  return view.conversation.messages.map(({ raw }) => raw);
}

const limits = { format: 'openai-chat', windowTokens: 40_000, trigger: 3000, target: 1500 };

describe('one conversation in two serialisations', () => {
  it('is compacted once, and each gets its view in its own form', async () => {
    const { summarizer, requests } = telling();
    const { keeper } = keeping({ summarizer, ...limits });
    await keeper.prepare(folded(14));
    await keeper.settle();
    expect(requests).toHaveLength(1);

    const fromFolded = await keeper.prepare(folded(15));
    const fromNative = await keeper.prepare(native(15));
    await keeper.settle();

    expect([fromFolded.status, fromNative.status]).toEqual(['folded', 'folded']);
    expect(fromFolded.checkpoint?.chain).toBe(fromNative.checkpoint?.chain);
    expect(requests).toHaveLength(1);
    expect(noncesIn(fromFolded.value)).toEqual(noncesIn(fromNative.value));
    expect(JSON.stringify(fromFolded.value)).not.toContain('"tool_calls":');
    expect(JSON.stringify(fromNative.value)).not.toContain('<details');
    // What stays of the folded list is what the client sent; only the answer at the border may have lost its calls.
    const sent = new Set(folded(15).map((raw) => JSON.stringify(raw)));
    const changed = fromFolded.value.filter((raw) => !sent.has(JSON.stringify(raw)));
    expect(changed.length).toBeLessThanOrEqual(2);
  });

  it('covers whole original messages, counted in the unfolded list', async () => {
    const { summarizer, requests } = telling();
    const { keeper } = keeping({ summarizer, ...limits });
    await keeper.prepare(folded(14));
    await keeper.settle();
    const { checkpoint, value } = await keeper.prepare(folded(14));

    const covered = checkpoint?.receipt.runs.filter(({ fate }) => fate === 'summarised') ?? [];
    const shown = requests.flatMap(({ messages }) => messages.flatMap(({ raw }) => noncesIn(raw)));
    const originals = covered.flatMap(({ start, end }) => noncesIn(native(14).slice(start, end)));
    // The first question stands in front of the summary, word for word, in the same message.
    const { content } = value[0] as { readonly content: readonly unknown[] };
    expect(noncesIn(content[0])).toEqual([0]);
    expect(originals).toEqual([0, ...shown]);
  });
});

describe('a view that cannot be unfolded exactly', () => {
  it('passes as it is, is told, and leaves nothing in the store', async () => {
    const { summarizer, requests } = telling();
    const { keeper, events, store } = keeping({ summarizer, ...limits });
    const broken = folded(14).map((raw, index) =>
      index === 1 ? { role: 'assistant', content: '<details type="tool_calls" done="true" id="a"' } : raw,
    );
    const { value, status } = await keeper.prepare(broken);
    await keeper.settle();

    expect(status).toBe('passed');
    expect(value).toBe(broken);
    expect(requests).toEqual([]);
    expect(events).toMatchObject([
      { type: 'view-refused' },
      { type: 'request-passed', reason: 'folded-calls' },
    ]);
    expect(await store.list()).toEqual([]);
  });
});
