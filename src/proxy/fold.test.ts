import { describe, expect, it } from 'vitest';
import { memoryStore } from '../stores/memory.ts';
import { createFolder } from './fold.ts';
import type { FoldRequest } from './folder.ts';
import { findRoute } from './routes.ts';

const PROMPT_TOKENS = 190_000;
const WINDOW = 200_000;

/** A request after upstream has said that prompt and answer together are too long. */
function refusedFor(maxTokens: number): FoldRequest {
  const messages = [{ role: 'user', content: 'Tell me all about it.' }];
  const value = { model: 'claude-sonnet-4-6', max_tokens: maxTokens, messages };
  const totalTokens = PROMPT_TOKENS + maxTokens;
  return {
    route: { ...findRoute('POST', '/v1/messages'), format: 'anthropic-messages' },
    body: new TextEncoder().encode(JSON.stringify(value)),
    tenant: 'tenant',
    upstream: 'upstream',
    betas: undefined,
    isBypassed: false,
    wishes: [],
    refusals: [
      {
        tokensSent: 1000,
        overflow: {
          kind: 'output-too-large',
          actualTokens: PROMPT_TOKENS,
          requestedOutputTokens: maxTokens,
          totalTokens,
          limitTokens: WINDOW,
          excessTokens: totalTokens - WINDOW,
        },
      },
    ],
  };
}

describe('a request that does not fit its window', () => {
  it('is measured anew next time, and not by what was reported for the part that was sent', async () => {
    const folder = createFolder({ store: memoryStore(), windowTokens: 4000, strategy: 'clear-tool-results' });
    const talk = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `Message ${index}: ${'all of this has to be said once more '.repeat(20)}`,
      }));
    const request = (count: number): FoldRequest => ({
      ...refusedFor(1000),
      refusals: [],
      body: new TextEncoder().encode(
        JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 1000, messages: talk(count) }),
      ),
    });
    const whole = await folder.fold(request(11));
    const reduced = await folder.fold(request(41));
    expect([whole.status, reduced.status]).toEqual(['unchanged', 'reduced']);
    expect(whole.turn).toBeDefined();
    expect(reduced.turn).toBeUndefined();
    await folder.close();
  });
});

describe('a request that leaves no room for its answer', () => {
  it.each([
    { maxTokens: 20_000, what: 'as long to write as before' },
    { maxTokens: 100_000, what: 'shorter to write than before' },
  ])('goes out again with a limit that fits, $what, and is said to be reduced', async ({ maxTokens }) => {
    const folder = createFolder({ store: memoryStore() });
    const request = refusedFor(maxTokens);
    const { status, body } = await folder.fold(request);
    const before = JSON.parse(new TextDecoder().decode(request.body));
    expect(status).toBe('reduced');
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual({
      ...before,
      max_tokens: WINDOW - PROMPT_TOKENS,
    });
  });
});
