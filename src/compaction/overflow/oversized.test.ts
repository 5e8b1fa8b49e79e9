import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import type { Conversation } from '../../conversation/format.ts';
import { textOf } from '../../conversation/message.ts';
import { readConversation } from '../../formats/registry.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { type RetryTruncation, type RetryTruncationOptions, truncateHeadForRetry } from './truncation.ts';

const estimator = createTokenEstimator();

function anthropic(messages: readonly unknown[]): Conversation {
  return readConversation(deepFreeze(messages), 'anthropic-messages');
}

const log = (lines: number, name: string) =>
  Array.from({ length: lines }, (_, index) => `${name} line ${index} is fine`).join('\n');

/** A question, calls, and a message with their results. */
function toolRound(contents: readonly unknown[]): readonly unknown[] {
  const ids = contents.map((_, index) => `t${index}`);
  return [
    { role: 'user', content: 'find it' },
    { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'bash', input: {} })) },
    {
      role: 'user',
      content: contents.map((content, index) => ({ type: 'tool_result', tool_use_id: ids[index], content })),
    },
  ];
}

/** A task and so many tool rounds with short results, those of `large` (from 1 on) with long ones. */
function session(rounds: number, ...large: readonly number[]): readonly unknown[] {
  const list = Array.from({ length: rounds }, (_, at) => {
    const id = `m${at + 1}`;
    const content = log(large.includes(at + 1) ? 5000 : 10, `out ${at + 1}`);
    return [
      { id, role: 'assistant', content: [{ type: 'tool_use', id, name: 'bash', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
    ];
  });
  return [{ role: 'user', content: 'do the task, never touch prod' }, ...list.flat()];
}

const gap = (excessTokens: number) => ({ overflow: { kind: 'prompt-too-long', excessTokens } });

/** What is left for a limit, in the estimated tokens of the test. */
function fitTo(
  limitTokens: number,
  conversation: Conversation,
  options: Partial<RetryTruncationOptions> = {},
): RetryTruncation {
  const actualTokens = requestTokens(conversation, estimator);
  const overflow = {
    kind: 'prompt-too-long',
    actualTokens,
    limitTokens,
    excessTokens: actualTokens - limitTokens,
  };
  const truncated = truncateHeadForRetry(conversation, { estimator, overflow, ...options });
  if (truncated === null) throw new Error('nothing could go');
  return truncated;
}

function markersIn({ messages }: Conversation): readonly string[] {
  return messages.map(({ blocks: [block] }) => (block === undefined ? '' : textOf(block))).filter(isMarker);
}

const isMarker = (text: string) => text.startsWith('[earlier conversation left out: ');

const indicesOf = (rounds: RetryTruncation['droppedRounds']) => rounds.map(({ round }) => round.index);

/** Indices of the messages that came through as the very values they were. */
function untouched(before: Conversation, after: Conversation): readonly number[] {
  const raws = new Set(after.messages.map(({ raw }) => raw));
  return [...before.messages.keys()].filter((index) => raws.has(before.messages[index]?.raw));
}

const allBut = (length: number, ...indices: readonly number[]) =>
  Array.from({ length }, (_, index) => index).filter((index) => !indices.includes(index));

describe('an old round that takes most of the window', () => {
  const LIMIT = 20_000;

  it('is shortened, and all other rounds stay as they are', () => {
    const conversation = anthropic(session(12, 10));
    const truncated = fitTo(LIMIT, conversation);
    const [shortened] = truncated.conversation.messages[20]!.blocks.map(textOf);

    expect(truncated).toMatchObject({
      droppedRounds: [],
      shortenedResults: 1,
      isCurrentTurnShortened: false,
      marker: undefined,
      largestRound: { round: { index: 10, responseId: 'm10' } },
    });
    expect(truncated.shortenedRounds).toEqual([truncated.largestRound]);
    expect(untouched(conversation, truncated.conversation)).toEqual(allBut(25, 20));
    expect(shortened).toMatch(/^out 10 line 0 is fine\n/);
    expect(shortened).toMatch(/\n\[\d+ characters left out to fit the context window\]\n/);
    expect(shortened).toMatch(/ line 4999 is fine$/);
    expect(truncated.receipt.tokensAfter).toBeLessThan(LIMIT);
    expect(truncated.receipt.tokensAfter).toBeGreaterThan(LIMIT / 2);
  });

  it.each(['SELECT 1; ', '日本語のテキスト', '0123456789abcdef', 'word\n'])(
    'is shortened as far as is asked for, and not dropped for a token that is missing: %s',
    (text) => {
      const [task, call, , ...rest] = session(12, 1);
      const content = [{ type: 'tool_result', tool_use_id: 'm1', content: text.repeat(20_000) }];
      const conversation = anthropic([task, call, { role: 'user', content }, ...rest]);
      const tokens = requestTokens(conversation, estimator);

      for (const share of [0.5, 0.25, 0.1]) {
        expect(fitTo(tokens * share, conversation)).toMatchObject({ droppedRounds: [], shortenedResults: 1 });
      }
    },
  );

  it('takes its innocent predecessors along where the oldest are to go first', () => {
    const truncated = fitTo(LIMIT, anthropic(session(12, 10)), { policy: 'keep-preamble' });

    expect(indicesOf(truncated.droppedRounds)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('leaves alone when it has nothing that can be shortened', () => {
    const messages = session(12, 10).with(20, {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'm10',
          content: [
            { type: 'text', text: log(5000, 'seen') },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
      ],
    });
    const conversation = anthropic(messages);
    const truncated = fitTo(LIMIT, conversation);

    expect(indicesOf(truncated.droppedRounds)).toEqual([10]);
    expect(truncated.leftOut).toEqual(conversation.messages.slice(19, 21));
    expect(untouched(conversation, truncated.conversation)).toEqual(allBut(25, 19, 20));
    expect(markersIn(truncated.conversation)).toEqual([truncated.marker]);
  });

  it('leaves before the oldest rounds follow, when even that is not enough', () => {
    const conversation = anthropic(session(12, 10));
    const small = requestTokens(anthropic(session(12)), estimator);
    const truncated = fitTo(small * 0.7, conversation, { marginFraction: 0 });
    const dropped = indicesOf(truncated.droppedRounds);

    expect(dropped).toContain(10);
    expect(dropped.slice(0, -1)).toEqual(Array.from({ length: dropped.length - 1 }, (_, at) => at + 1));
    expect(dropped.length).toBeLessThan(8);
    expect(truncated.shortenedResults).toBe(0);
    expect(truncated.conversation.messages[0]).toBe(conversation.messages[0]);
  });

  it('is shortened by a share when the provider names no number, and more each time', () => {
    let conversation = anthropic(session(12, 10));
    const sizes = [requestTokens(conversation, estimator)];
    for (const attempt of [1, 2, 3]) {
      const truncated = truncateHeadForRetry(conversation, { estimator, attempt })!;

      expect(truncated).toMatchObject({ droppedRounds: [], shortenedResults: 1 });
      conversation = truncated.conversation;
      sizes.push(requestTokens(conversation, estimator));
    }
    const left = sizes.slice(1).map((size, index) => size / sizes[index]!);

    expect(left[0]).toBeCloseTo(0.8, 1);
    expect(left[1]).toBeCloseTo(0.6, 1);
    expect(left[2]).toBeCloseTo(0.4, 1);
  });

  it('says how much is missing of the original after it was shortened twice', () => {
    const conversation = anthropic(session(12, 10));
    const twice = fitTo(LIMIT / 2, fitTo(LIMIT, conversation).conversation).conversation;
    const [before = '', after = ''] = [conversation, twice].map(({ messages }) =>
      textOf(messages[20]!.blocks[0]!),
    );
    const notes = [...after.matchAll(/\n\[(\d+) characters left out to fit the context window\]\n/g)];

    expect(notes).toHaveLength(1);
    expect(after.length - notes[0]![0].length + Number(notes[0]![1])).toBe(before.length);
  });

  it('need not be the only one: each that takes more than half of the window is shortened', () => {
    const conversation = anthropic(session(12, 4, 10));
    const largest = requestTokens(conversation, estimator) / 2;
    const truncated = fitTo(largest * 0.9, conversation);

    expect(truncated.droppedRounds).toEqual([]);
    expect(indicesOf(truncated.shortenedRounds)).toEqual([4, 10]);
  });

  it('is nobody while all rounds are of one size: the oldest go', () => {
    const truncated = fitTo(900, anthropic(session(12)));

    expect(indicesOf(truncated.droppedRounds)[0]).toBe(1);
    expect(truncated.shortenedResults).toBe(0);
  });

  it('is never the task of the user, however long', () => {
    const conversation = anthropic([{ role: 'user', content: log(5000, 'task') }, ...session(12).slice(1)]);
    const tokens = requestTokens(conversation, estimator);
    const truncated = fitTo(tokens - 100, conversation);

    expect(indicesOf(truncated.droppedRounds)[0]).toBe(1);
    expect(truncated.conversation.messages[0]).toBe(conversation.messages[0]);
  });

  it('stays whole where a pattern pins it: the oldest rounds go instead', () => {
    const conversation = anthropic([
      ...toolRound([log(5000, 'plain')]),
      { role: 'assistant', content: 'found it' },
      ...session(20),
    ]);
    const pins = { patterns: [/plain line 7 /] };
    const truncated = fitTo(requestTokens(conversation, estimator) - 500, conversation, { pins });

    expect(truncated.shortenedResults).toBe(0);
    expect(indicesOf(truncated.droppedRounds)[0]).toBeGreaterThan(1);
    expect(truncated.conversation.messages.slice(0, 3)).toEqual(conversation.messages.slice(0, 3));
  });
});

describe('the current turn', () => {
  it('stays whole while it fits by itself, whatever else has to go', () => {
    const conversation = anthropic(session(12, 12));
    const own = estimator.countMessages(conversation.messages.slice(23));
    const truncated = fitTo(own + 100, conversation, { marginFraction: 0 });

    expect(truncated.isCurrentTurnShortened).toBe(false);
    expect(truncated.conversation.messages.slice(-2).map(({ raw }) => raw)).toEqual(
      conversation.messages.slice(-2).map(({ raw }) => raw),
    );
    expect(truncated.droppedRounds.length).toBeGreaterThan(8);
  });

  it('is shortened where it alone exceeds the limit, which is told, and the rounds before it stay', () => {
    const conversation = anthropic(session(12, 12));
    const truncated = fitTo(20_000, conversation);

    expect(truncated).toMatchObject({
      droppedRounds: [],
      isCurrentTurnShortened: true,
      shortenedRounds: [{ round: { index: 12 } }],
    });
    expect(untouched(conversation, truncated.conversation)).toEqual(allBut(25, 24));
    expect(truncated.receipt.tokensAfter).toBeLessThan(20_000);
  });

  it('keeps half of the window at least where old rounds have to go anyway', () => {
    const conversation = anthropic(session(12, 2, 4, 6, 12));
    const truncated = fitTo(20_000, conversation);
    const current = truncated.conversation.messages.slice(-2);

    expect(truncated.isCurrentTurnShortened).toBe(true);
    expect(estimator.countMessages(current)).toBeGreaterThan(9_000);
    expect(truncated.receipt.tokensAfter).toBeLessThan(20_000);
  });

  it('has less than half of the window where nothing else may leave, shortened no more than it has to be', () => {
    const [task, call, result] = toolRound([log(5000, 'now')]);
    const kept = { role: 'assistant', content: [{ type: 'compaction', content: log(800, 'kept') }] };
    const conversation = anthropic([task, kept, { role: 'user', content: 'go on' }, call, result]);
    const truncated = fitTo(10_000, conversation, { marginFraction: 0 });

    expect(truncated).toMatchObject({ droppedRounds: [], shortenedResults: 1 });
    expect(truncated.receipt.tokensAfter).toBeLessThanOrEqual(10_000);
    expect(truncated.receipt.tokensAfter).toBeGreaterThan(9_500);
    const [text = ''] = truncated.conversation.messages.at(-1)!.blocks.map(textOf);
    expect(text.match(/characters left out/g)).toHaveLength(1);
  });

  it('is shortened rather than the task given up', () => {
    const conversation = anthropic(toolRound([log(3000, 'only')]));
    const own = requestTokens(anthropic(toolRound([log(3000, 'only')]).slice(1)), estimator);
    const truncated = fitTo(own + 1, conversation, { marginFraction: 0 });

    expect(truncated).toMatchObject({ droppedRounds: [], isCurrentTurnShortened: true });
    expect(truncated.conversation.messages[0]).toBe(conversation.messages[0]);
  });

  it('is not shortened in vain: where the task has to go all the same, and is enough, the turn stays whole', () => {
    const [, call, result] = toolRound([log(100, 'only')]);
    const conversation = anthropic([{ role: 'user', content: log(5000, 'task') }, call, result]);
    const truncated = fitTo(5000, conversation);

    expect(truncated).toMatchObject({ isCurrentTurnShortened: false, shortenedResults: 0 });
    expect(indicesOf(truncated.droppedRounds)).toEqual([0]);
  });
});

describe('a current turn that is too large by itself', () => {
  const round = (...contents: readonly unknown[]) => anthropic(toolRound(contents));
  const resultTexts = ({ messages }: Conversation) => messages[2]!.blocks.map(textOf);

  it('shortens the largest result first, no more than needed, with head and tail kept', () => {
    const conversation = round(log(200, 'small'), log(2000, 'large'));
    const truncated = truncateHeadForRetry(conversation, { estimator, ...gap(3000) })!;
    const [small, large] = resultTexts(truncated.conversation);

    expect(truncated).toMatchObject({ droppedRounds: [], shortenedResults: 1, marker: undefined });
    expect(small).toBe(log(200, 'small'));
    expect(large).toMatch(/^large line 0 is fine\n/);
    expect(large).toMatch(/large line 1999 is fine$/);
    expect(large).toMatch(/\n\[\d+ characters left out to fit the context window\]\n/);
    const { tokensBefore, tokensAfter } = truncated.receipt;
    expect(tokensBefore - tokensAfter).toBeGreaterThan(3000);
    expect(tokensBefore - tokensAfter).toBeLessThan(3900);
    expect(truncated.receipt.runs.map(({ fate }) => fate)).toEqual(['verbatim', 'reduced']);
  });

  it('goes on to the next largest, and parts with the question only after that', () => {
    const conversation = round(log(1000, 'small'), log(2000, 'large'));
    const tokens = requestTokens(conversation, estimator);
    const both = truncateHeadForRetry(conversation, { estimator, marginFraction: 0, ...gap(tokens - 1000) })!;
    const all = truncateHeadForRetry(conversation, { estimator, ...gap(tokens) })!;

    expect(both).toMatchObject({ droppedRounds: [], shortenedResults: 2 });
    expect(all).toMatchObject({ droppedRounds: [{ round: { kind: 'preamble' } }], shortenedResults: 2 });
  });

  it('shortens by the fraction when no number is known, keeps the marker, and ends with null', () => {
    let conversation = anthropic([...session(4, 0), ...toolRound([log(3000, 'only')])]);
    let tokens = requestTokens(conversation, estimator);
    let isAtEnd = false;
    for (let step = 0; step < 30 && !isAtEnd; step++) {
      const truncated = truncateHeadForRetry(conversation, { estimator });
      isAtEnd = truncated === null;
      if (truncated === null) break;
      expect(truncated.droppedMessages + truncated.shortenedResults).toBeGreaterThan(0);
      expect(markersIn(truncated.conversation)).toHaveLength(1);
      conversation = truncated.conversation;
      tokens = requestTokens(conversation, estimator);
    }

    expect(isAtEnd).toBe(true);
    expect(tokens).toBeLessThan(700);
  });

  it('leaves short results and those with media alone', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    };
    const mixed = round([image, { type: 'text', text: log(2000, 'seen') }], log(5, 'short'));

    expect(truncateHeadForRetry(mixed, { estimator, ...gap(50) })).toMatchObject({
      droppedRounds: [{ round: { kind: 'preamble' } }],
      shortenedResults: 0,
    });
  });

  it.each([500, 501, 502, 503, 504, 505, 506])('halves no character for a gap of %d', (gapTokens) => {
    for (const front of ['', 'x']) {
      const conversation = round(`${front}${'😀'.repeat(4000)}`);
      const truncated = truncateHeadForRetry(conversation, { estimator, ...gap(gapTokens) })!;
      const [text = ''] = resultTexts(truncated.conversation);

      expect(text.length).toBeLessThan(8000);
      expect(text.isWellFormed()).toBe(true);
    }
  });

  it.each(['日本語のテキスト ', 'plain words ', '{"json": [1, 2]} '])(
    'frees the one missing token of "%s"',
    (text) => {
      const truncated = truncateHeadForRetry(round(text.repeat(300)), { estimator, ...gap(1) })!;

      expect(truncated).toMatchObject({ droppedRounds: [], shortenedResults: 1 });
      expect(truncated.receipt.tokensAfter).toBeLessThan(truncated.receipt.tokensBefore - 1);
    },
  );

  it('counts no shortened result that leaves after all', () => {
    const next = { role: 'assistant', content: 'found' };
    const asked = { role: 'user', content: 'and now?' };
    const conversation = anthropic([...toolRound([log(1000, 'only')]), asked, next]);

    expect(truncateHeadForRetry(conversation, { estimator, ...gap(1e6) })).toMatchObject({
      droppedMessages: 4,
      shortenedResults: 0,
    });
  });
});
