import { describe, expect, it } from 'vitest';
import { createKeeper } from '../../src/keeper/keeper.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { captures } from '../support/captures.ts';
import { corpusIsMissing } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { keeping, session, told } from '../support/keeping.ts';

const limits = { windowTokens: 100_000, trigger: 3000, target: 1500 };
const COMPACT = 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSummarise the conversation.';

/** A request as Claude Code makes them: settings of its own, system messages among the others, cache markers. */
function claudeCodeRequest(edits: readonly { readonly type: string }[], rounds = 24) {
  const [first, ...others] = session(rounds);
  return {
    model: 'claude-sonnet-4-5',
    max_tokens: 64_000,
    system: [{ type: 'text', text: 'Work.', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'ask_expert', input_schema: { type: 'object' } }],
    thinking: { type: 'adaptive' },
    context_management: { edits },
    messages: [first, { role: 'system', content: 'A note of the client.' }, ...others],
  };
}

async function statusOnceCompacted(body: unknown): Promise<{ status: string; reason?: string | undefined }> {
  const { keeper } = keeping({ ...limits, format: undefined });
  await keeper.prepare(body);
  await keeper.settle();
  const { status, reason } = await keeper.prepare(body);
  return reason === undefined ? { status } : { status, reason };
}

describe('a client that asks its provider for context management', () => {
  it.each([
    ['clearing of thinking', [{ type: 'clear_thinking_20251015', keep: 'all' }]],
    ['clearing of tool uses', [{ type: 'clear_tool_uses_20250919' }]],
    ['nothing', []],
  ])('is kept inside its window when that is %s', async (_what, edits) => {
    expect(await statusOnceCompacted(claudeCodeRequest(edits))).toEqual({ status: 'folded' });
  });

  it('is left alone when that is compaction', async () => {
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }];
    const passed = { status: 'passed', reason: 'provider-compacts' };
    expect(await statusOnceCompacted(claudeCodeRequest(edits))).toEqual(passed);
    expect(
      await statusOnceCompacted({
        model: 'gpt-5.5',
        input: [],
        context_management: [{ type: 'compaction' }],
      }),
    ).toEqual(passed);
  });

  it('is kept inside its window when it has allowed the provider to truncate', async () => {
    const input = [{ role: 'user', content: told(1) }];
    expect(await statusOnceCompacted({ model: 'gpt-5.5', input, truncation: 'auto' })).toEqual({
      status: 'unchanged',
    });
  });
});

describe('the compaction call of a client', () => {
  it('passes whole, says so, and leaves what is known of the conversation alone', async () => {
    const { keeper, events } = keeping({ ...limits, format: undefined });
    const turn = claudeCodeRequest([{ type: 'clear_thinking_20251015' }]);
    await keeper.prepare(turn);
    await keeper.settle();
    const asked = deepFreeze({
      ...turn,
      messages: [...turn.messages, { role: 'user', content: [{ type: 'text', text: COMPACT }] }],
    });
    const { value, status, reason } = await keeper.prepare(asked);
    expect({ status, reason }).toEqual({ status: 'passed', reason: 'client-compacts' });
    expect(value).toBe(asked);
    expect(events.at(-1)).toEqual({
      type: 'request-passed',
      reason: 'client-compacts',
      detail: 'claude-code',
    });
    expect((await keeper.prepare(turn)).status).toBe('folded');
  });
});

describe('a keeper for many models', () => {
  const body = (model?: string) => ({
    ...(model === undefined ? {} : { model }),
    max_tokens: 9,
    system: 'Work.',
    messages: session(1200),
  });

  it('takes window and trigger from the model of each request', async () => {
    const keeper = createKeeper({ store: memoryStore(), tenant: 'a' });
    const large = await keeper.prepare(body('claude-opus-5'));
    await keeper.settle();
    expect((await keeper.prepare(body('claude-opus-5'))).status).toBe('unchanged');
    expect(large.status).toBe('unchanged');
    expect(keeper.thresholdsFor('claude-opus-5').windowTokens).toBeGreaterThan(
      keeper.thresholdsFor('claude-haiku-4-5').windowTokens,
    );
    await keeper.prepare(body('claude-haiku-4-5'));
    await keeper.settle();
    expect((await keeper.prepare(body('claude-haiku-4-5'))).status).toBe('folded');
    await keeper.close();
  });

  it('is told the model by the call rather than by the request, and by its own option last', async () => {
    const keeper = createKeeper({ store: memoryStore(), tenant: 'a', model: 'claude-haiku-4-5' });
    expect((await keeper.prepare(body('claude-opus-5'), { model: 'claude-haiku-4-5' })).status).not.toBe(
      'unchanged',
    );
    await keeper.settle();
    expect((await keeper.prepare(body())).status).toBe('folded');
    expect(keeper.thresholdsFor()).toEqual(keeper.thresholdsFor('claude-haiku-4-5'));
    await keeper.close();
  });
});

const captured = captures();
const isCompaction = (name: string) => /compaction-(request|trigger)/.test(name);

/** The request with its rounds over and over, under other ids. Notes of the client's system are pinned and stand once. */
function grown(body: Readonly<Record<string, unknown>>, times: number): unknown {
  const key = ['messages', 'input', 'contents'].find((each) => Array.isArray(body[each])) ?? 'messages';
  const list = body[key] as readonly { readonly role?: string; readonly type?: string }[];
  const first = list.findIndex(
    ({ role, type }) => role === 'assistant' || role === 'model' || type === 'reasoning',
  );
  const again = Array.from({ length: times }, (_, round) => {
    const renamed = JSON.stringify(list.slice(first).filter(({ role }) => role !== 'system')).replaceAll(
      /(toolu|call|fc|rs|msg|fco)_(?=[0-9a-f]{8})/g,
      `$1_${round}x`,
    );
    return JSON.parse(renamed) as unknown[];
  });
  return { ...body, [key]: [...list, ...again.flat()] };
}

describe.skipIf(captured.length === 0)(`requests of real clients (${corpusIsMissing} otherwise)`, () => {
  const turns = captured.filter(({ name }) => /\.(turn|tool-search|subagent)$/.test(name));

  it.each(turns)('$name is folded once it is long enough', async ({ body }) => {
    const { keeper } = keeping({
      windowTokens: 100_000,
      trigger: 45_000,
      target: 30_000,
      format: undefined,
      strategy: 'ladder',
      options: {},
      summarizer: undefined,
    });
    const long = grown(body, 100);
    await keeper.prepare(long);
    await keeper.settle();
    const { status, reason } = await keeper.prepare(long);
    expect({ status, reason }).toEqual({ status: 'folded', reason: undefined });
  });

  it.each(captured.filter(({ name }) => isCompaction(name)))('$name passes whole', async ({ body }) => {
    const { keeper } = keeping({ ...limits, format: undefined });
    expect(await keeper.prepare(body)).toEqual({ value: body, status: 'passed', reason: 'client-compacts' });
  });

  it.each(captured.filter(({ name }) => !isCompaction(name)))('$name goes out as it is', async ({ body }) => {
    const { keeper } = keeping({ ...limits, format: undefined, trigger: undefined });
    expect(await keeper.prepare(body)).toEqual({ value: body, status: 'unchanged' });
  });
});
