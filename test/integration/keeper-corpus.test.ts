import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { withMessages, writeConversation } from '../../src/conversation/format.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { readConversation } from '../../src/formats/registry.ts';
import type { Prepared } from '../../src/keeper/keeper.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { keeping } from '../support/keeping.ts';

const TIMEOUT_MS = 300_000;
const estimator = createTokenEstimator();
const sessions = corpusFiles().filter(({ file }) => file.startsWith('claude-code/'));
const calls = corpusFiles().find(({ file }) => file.includes('callsequence-django-11239'))?.file;
const isMissing = sessions.length === 0 || calls === undefined;
const totals = { turns: 0, folded: 0, compactions: 0 };

/** Turns between two that are sent as new values: a client that starts anew, or a proxy. */
const FRESH_EVERY = 5;

type Body = { readonly messages: readonly unknown[] };

/** Sends one request after the other, now and then as new values, and compares what goes out. */
async function replay(bodies: readonly Body[], format: string): Promise<void> {
  const last = bodies.at(-1);
  const whole = last === undefined ? 0 : requestTokens(readConversation(last, format), estimator);
  if (whole < 4000) return;
  const { keeper, events } = keeping({
    format,
    strategy: 'ladder',
    options: { keepRecentTokens: Math.round(whole / 20) },
    summarizer: undefined,
    windowTokens: Math.round(whole * 0.8),
    trigger: Math.round(whole * 0.4),
    target: Math.round(whole * 0.25),
  });
  let before: { readonly chain: string | undefined; readonly sent: readonly string[] } | undefined;
  for (const [turn, body] of bodies.entries()) {
    const value = turn % FRESH_EVERY === 0 ? (JSON.parse(JSON.stringify(body)) as Body) : body;
    const prepared: Prepared<Body> = await keeper.prepare(value);
    const chain = prepared.checkpoint?.chain;
    const sent = prepared.value.messages.map(bytesOf);
    totals.turns++;
    if (chain !== undefined) totals.folded++;
    if (before !== undefined && before.chain === chain && prepared.status !== 'reduced')
      expect(sent.slice(0, before.sent.length)).toEqual(before.sent);
    if (before?.chain !== undefined) expect(chain).toBeDefined();
    before = prepared.status === 'reduced' ? undefined : { chain, sent };
    await keeper.settle();
  }
  totals.compactions += events.filter(({ type }) => type === 'checkpoint-saved').length;
}

/** A message as it goes out, without the client's own cache marker, which it moves from turn to turn. */
function bytesOf(raw: unknown): string {
  return JSON.stringify(raw, (key, value: unknown) => (key === 'cache_control' ? undefined : value));
}

describe.skipIf(isMissing)(
  `a keeper on the corpus${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`,
  () => {
    it(
      'sends the same prefix on every call of a recorded run',
      async () => {
        const text = gunzipSync(readFileSync(corpusPath(calls ?? ''))).toString('utf8');
        const bodies = text.split('\n').filter((line) => line !== '');
        await replay(
          bodies.map((line) => JSON.parse(line) as Body),
          'openai-chat',
        );
      },
      TIMEOUT_MS,
    );

    it.each(sessions)(
      'sends the same prefix on every turn of $file',
      async ({ file }) => {
        for await (const { conversations } of readRecordings(await fileSource(corpusPath(file)))) {
          for (const conversation of conversations) {
            const { messages, format } = conversation;
            const starts = groupRounds(messages).flatMap(({ kind, start }) =>
              kind === 'response' && start > 0 ? [start] : [],
            );
            const bodies = starts.map((start) => {
              const written = writeConversation(withMessages(conversation, messages.slice(0, start)));
              return (Array.isArray(written) ? { messages: written } : written) as Body;
            });
            await replay(bodies, format.name);
          }
        }
      },
      TIMEOUT_MS,
    );

    it('had enough to do, or nothing was proved', () => {
      console.log(
        `${totals.turns} turns, ${totals.folded} of them folded, ${totals.compactions} compactions`,
      );
      expect(totals.compactions).toBeGreaterThan(20);
      expect(totals.folded).toBeGreaterThan(200);
    });
  },
);
