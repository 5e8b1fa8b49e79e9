import { describe, expect, it } from 'vitest';
import { ask, characters, madeBy, runSummarize, task } from '../../../test/support/summarize-runs.ts';
import { type Message, textOf } from '../../conversation/message.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import type { Summarizer, SummaryRequest } from '../../memory/summary-request.ts';
import { changeOf } from '../plan/strategy.ts';

const tokensOf = (messages: readonly Message[]) =>
  messages.reduce((sum, message) => sum + characters.countMessage(message), 0);

/** Reads so many tokens at most, and says what is too much where it `tells`. */
function narrow(most: number, tells: (tokens: number) => OverflowFacts | undefined = () => undefined) {
  const refused: SummaryRequest[] = [];
  const read: SummaryRequest[] = [];
  const usage = { promptTokens: 10, outputTokens: 1 };
  const summarizer: Summarizer = {
    name: 'narrow',
    asksModel: true,
    async summarize(request) {
      const tokens = tokensOf(request.messages);
      if (tokens <= most) {
        read.push(request);
        return { status: 'summarized', text: 'summary', usage };
      }
      refused.push(request);
      const overflow = tells(tokens);
      return { status: 'failed', reason: 'input-too-long', message: 'too long', usage, overflow };
    },
  };
  return { refused, read, summarizer };
}

const excessOver = (most: number) => (tokens: number) => ({
  kind: 'prompt-too-long',
  actualTokens: tokens,
  excessTokens: tokens - most,
});

/** What the memory tells of these messages, in whose answers each has a sentence of its own. */
const partsIn = (texts: readonly string[]) => texts.flatMap((text) => text.match(/Part \d+ works\b/g) ?? []);
const partsOf = (messages: readonly Message[]) =>
  partsIn(messages.flatMap(({ blocks }) => blocks.map(textOf)));

/** A task and rounds of 1000 tokens, each with a sentence of its own. */
const told = (rounds: number) =>
  anthropicMessages.read([
    task,
    ...Array.from({ length: rounds }, (_one, index) => [
      { role: 'assistant', content: `Part ${index} works now. ${'x'.repeat(970)}` },
      ask,
    ]).flat(),
  ]);

const rawsOf = (messages: readonly Message[] | undefined) => messages?.map(({ raw }) => raw);

describe('an input that is too long for the summarizer, while the target has room', () => {
  const conversation = told(20);
  const given = { conversation, targetTokens: 14_000 };
  const options = { keepRounds: 1, maxSummaryTokens: 200 };

  it('leaves the newest of what was covered in the conversation, by what the refusal says', async () => {
    const { refused, read, summarizer } = narrow(12_000, excessOver(12_000));
    const outcome = await runSummarize(options, { ...given, summarizer });
    const gone = changeOf(outcome)!
      .receipt.runs.filter(({ fate }) => fate === 'summarised')
      .flatMap(({ start, end }) => conversation.messages.slice(start, end));

    expect(outcome.status).toBe('compacted');
    expect(refused).toHaveLength(1);
    expect(rawsOf(gone)).toEqual(rawsOf(read[0]?.messages));
    // A tenth of the gap on top of it, and whole rounds.
    expect(tokensOf(gone)).toBeLessThanOrEqual(12_000);
    expect(tokensOf(gone)).toBeGreaterThan(10_000);
    // Nobody else has to tell of anything.
    expect(read[0]?.shown).toBeUndefined();
    expect(partsIn(madeBy(outcome).flatMap((message) => readSummaryMessage(message) ?? []))).toEqual([]);
  });

  it('counts the excess in the tokens of the provider', async () => {
    const { read, summarizer } = narrow(12_000, (tokens) => ({
      kind: 'prompt-too-long',
      actualTokens: tokens * 3,
      excessTokens: (tokens - 12_000) * 3,
    }));
    await runSummarize(options, { ...given, summarizer });

    expect(tokensOf(read[0]?.messages ?? [])).toBeGreaterThan(10_000);
  });

  it('takes a fifth off where nobody says by how much it is too long', async () => {
    const { refused, read, summarizer } = narrow(15_500);
    await runSummarize(options, { ...given, summarizer });
    const [before] = refused.map(({ messages }) => tokensOf(messages));
    const after = tokensOf(read[0]?.messages ?? []);

    expect(after).toBeLessThanOrEqual(before! * 0.8);
    expect(after).toBeGreaterThan(before! * 0.7);
  });

  it('adds up what all tries have cost', async () => {
    const { summarizer } = narrow(12_000, excessOver(12_000));

    expect(await runSummarize(options, { ...given, summarizer })).toMatchObject({
      usage: { promptTokens: 20, outputTokens: 2 },
    });
  });
});

describe('an input that is too long for the summarizer, while the target has no room', () => {
  const conversation = told(20);
  const given = { conversation, targetTokens: 4500 };
  const options = { keepRounds: 1, maxSummaryTokens: 2000 };

  it('loses its oldest, which our own story in front of the prose tells of', async () => {
    const { read, summarizer } = narrow(6000, excessOver(6000));
    const outcome = await runSummarize(options, { ...given, summarizer });
    const [, summary = ''] = madeBy(outcome).map(readSummaryMessage);
    const [own = '', prose] = summary.split('- By a model: ');
    const shown = read[0]?.messages ?? [];

    expect(outcome.status).toBe('compacted');
    expect(madeBy(outcome)).toHaveLength(5);
    expect(prose).toBe('summary');
    // Every covered message is told by one of the two, the newest by the model, and none by both.
    const covered = conversation.messages.slice(1, 38);
    expect([...partsIn([own]), ...partsOf(shown)]).toEqual(partsOf(covered));
    expect(partsIn([own]).length).toBeGreaterThan(10);
    expect(rawsOf(shown.slice(-5))).toEqual(rawsOf(covered.slice(-5)));
  });

  it('leaves the prose at most half of the room, however little it is about', async () => {
    const { read, refused, summarizer } = narrow(6000, excessOver(6000));
    await runSummarize(options, { ...given, summarizer });

    expect([...refused, ...read].map(({ maximumTokens }) => maximumTokens)).toEqual([1000, 1000]);
  });
});

describe('a summarizer that finds every input too long', () => {
  it.each([14_000, 3000])('is asked four times and no more, for a target of %i', async (targetTokens) => {
    const { refused, summarizer } = narrow(0);
    const sizes = () => refused.map(({ messages }) => tokensOf(messages));
    const outcome = await runSummarize(
      { keepRounds: 1, maxSummaryTokens: 200 },
      { targetTokens, summarizer },
    );

    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'summary-input-too-long',
      usage: { promptTokens: 40, outputTokens: 4 },
    });
    expect(refused).toHaveLength(4);
    expect(sizes()).toEqual(sizes().toSorted((left, right) => right - left));
  });

  it('is not asked again when the user has stopped the run', async () => {
    const controller = new AbortController();
    const { refused, summarizer } = narrow(0, () => {
      controller.abort();
      return undefined;
    });
    await runSummarize({ keepRounds: 1 }, { summarizer, signal: controller.signal });

    expect(refused).toHaveLength(1);
  });
});
