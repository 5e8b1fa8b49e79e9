import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { readSummaryMessage, summaryMessageText } from '../../src/conversation/index.ts';
import { formats } from '../../src/formats/index.ts';
import type { Message } from '../../src/index.ts';
import {
  isProgress,
  nextView,
  originalCount,
  type ProgressInput,
  previewTailStart,
  progressInput,
  progressStart,
  readView,
  savedProgress,
  targetProgress,
} from '../../src/keeper/progress.ts';
import { findMarker, MARKER_SOURCE } from '../../src/memory/markers.ts';
import { summaryRequestBudget } from '../../src/memory/model/summary-call.ts';
import { chat, chatShape, markerRaw, viewOf } from '../support/chat-shapes.ts';
import { errorsOf, estimator, rawsOf } from '../support/small-sessions.ts';

const openaiChat = chat([]).format;

const systemHead = viewOf('sMuaua', 6);

/** What a summarizer is given has so many tokens; a window of 0 takes everything. */
const fitsIn = (window: number) => (input: ProgressInput) =>
  estimator.countMessages(input.messages) + (input.previousSummary ?? '').length <=
  summaryRequestBudget(window, 16_384).inputTokens;

describe('the marker', () => {
  it.each(formats.map((format) => ({ name: format.name, format })))(
    'a client of $name that keeps role and text keeps covered_until',
    ({ format }) => {
      const text = summaryMessageText('done', { coveredUntil: 41, source: 'proxy:7' });
      const [message] = format.userMessages([format.textBlock(text)]);
      const kept = format.readMessage(JSON.parse(JSON.stringify(message?.raw)));

      expect(findMarker([kept], 'proxy:7')).toEqual({ index: 0, coveredUntil: 41, summary: 'done' });
      expect(readSummaryMessage(kept)).toBe('done');
    },
  );

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, '7', null, undefined])(
    'a covered_until of %s counts as 0',
    (value) => {
      const text = summaryMessageText('done', { coveredUntil: value as number, source: MARKER_SOURCE });

      expect(findMarker(chat([{ role: 'user', content: text }]).messages)?.coveredUntil).toBe(0);
    },
  );

  const text = String(markerRaw(6).content);
  const word = /<summary (\S+) /.exec(text)?.[1] ?? '';
  it.each([
    { title: 'without a marker', content: summaryMessageText('done') },
    { title: 'of another source', content: markerRaw(6, 'somebody').content },
    { title: 'with another number', content: text.replace('=6 ', '=6.5 ') },
    { title: 'with a negative number', content: text.replace('=6 ', '=-6 ') },
    { title: 'with a number written in another way', content: text.replace('=6 ', '=06 ') },
    { title: 'with a number that is too large', content: text.replace('=6 ', '=9999999999999999 ') },
    { title: 'without its source', content: text.replace(` source=${MARKER_SOURCE}`, '') },
    { title: 'with more in the line', content: text.replace('=6 ', '=6 x=1 ') },
    { title: 'with another word', content: text.replaceAll(word, '0deadbeef') },
    { title: 'in a longer text', content: `${text}\nand more` },
    { title: 'of the assistant', content: text, role: 'assistant' },
    { title: 'in the text of a summary', content: summaryMessageText(text) },
  ])('a summary $title is no marker', ({ content, role = 'user' }) => {
    expect(findMarker(chat([{ role, content }]).messages)).toBeUndefined();
  });

  const hostile = fc.string({
    unit: fc.constantFrom(
      '\n',
      '>',
      ' covered_until=9',
      ' source=roundfold',
      `</summary ${word}>`,
      'x',
      text,
    ),
    maxLength: 12,
  });
  test.prop([hostile, fc.nat()])('no summary forges its own marker', (summary, coveredUntil) => {
    const content = summaryMessageText(summary, { coveredUntil, source: MARKER_SOURCE });
    const { messages } = chat([{ role: 'user', content }]);

    expect(findMarker(messages)).toEqual({ index: 0, coveredUntil, summary });
  });

  it('a source that could not be read back is refused', () => {
    expect(() => summaryMessageText('x', { coveredUntil: 1, source: 'a b' })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });
});

describe('progress in original coordinates', () => {
  it.each([
    { shape: '', count: 0 },
    { shape: 'sua', count: 3 },
    { shape: 'sMuaua', count: 10 },
    { shape: 'Mua', count: 8 },
    { shape: 'suM', count: 6 },
  ])('"$shape" with a marker for 6 stands for $count messages', ({ shape, count }) => {
    expect(originalCount(viewOf(shape, 6))).toBe(count);
  });

  it.each([
    { keepLast: 2, target: 8 },
    { keepLast: 6, target: 6 },
    { keepLast: 4, target: 6 },
    { keepLast: 0, target: 10 },
    { keepLast: -3, target: 10 },
  ])('of 10 messages with 6 covered, keeping $keepLast aims at $target', ({ keepLast, target }) => {
    expect(targetProgress(systemHead, { keepLast, protectedHead: 1 })).toBe(target);
  });

  it('a target that is covered already is nothing to do', () => {
    const target = targetProgress(systemHead, { keepLast: 6, protectedHead: 1 });

    expect(target).toBeLessThanOrEqual(progressStart(readView(systemHead), 1));
    expect(progressInput(systemHead, { target, protectedHead: 1, fits: () => true })).toEqual({
      status: 'nothing-new',
    });
  });

  /** What a turn adds, and the room that the summarizer has then. */
  const turns = fc.array(
    fc.record({
      added: fc.constantFrom('u', 'ua', 'uCtau', 'uCtta', 's', 'uCtCta'),
      room: fc.constantFrom(Number.POSITIVE_INFINITY, 12, 30, 80),
    }),
    { maxLength: 24 },
  );

  test.prop([turns, fc.nat(8)])(
    'a client that keeps our views has the boundary of what was summarised, turn after turn',
    (list, keepLast) => {
      let original: readonly Message[] = chat([{ role: 'system', content: 'rules' }]).messages;
      let view = original;
      let stored = 0;
      for (const [turn, { added, room }] of list.entries()) {
        const more = chat(
          JSON.parse(JSON.stringify(chatShape(added)).replaceAll(/"c(\d)/g, `"t${turn}c$1`)),
        ).messages;
        original = [...original, ...more];
        view = chat(JSON.parse(JSON.stringify(rawsOf({ messages: [...view, ...more] })))).messages;
        expect(originalCount(view)).toBe(original.length);

        const options = { keepLast, protectedHead: 1 };
        const target = targetProgress(view, options);
        const fits = ({ messages }: ProgressInput) => estimator.countMessages(messages) <= room;
        const result = progressInput(view, { ...options, target, fits });
        if (result.status !== 'ready') continue;
        const { input, saved } = result;
        expect(rawsOf(input)).toEqual(
          rawsOf({ messages: original.slice(input.start, saved) }).filter(
            (raw) => (raw as { role: string }).role !== 'system',
          ),
        );
        expect(input.previousSummary).toBe(readView(view).summary);
        expect(isProgress(saved, stored)).toBe(true);
        expect(saved).toBeLessThanOrEqual(target);
        stored = saved;
        const next = nextView(view, { ...options, format: openaiChat, summary: `up to ${saved}`, saved });
        view = next ?? [];
        expect(rawsOf({ messages: view.slice(readView(view).tailStart) })).toEqual(
          rawsOf({ messages: original.slice(saved) }),
        );
        expect(view.filter(({ role }) => role === 'system')).toHaveLength(
          original.filter(({ role }) => role === 'system').length,
        );
        expect(errorsOf(chat([]), rawsOf({ messages: view }))).toBe(0);
      }
    },
  );

  it('the boundary grows beyond the number of visible messages', () => {
    const view = viewOf('sMuauaua', 60);
    const result = progressInput(view, { target: 64, protectedHead: 1, fits: () => true });

    expect(result).toMatchObject({ status: 'ready', saved: 64 });
    expect(view.length).toBeLessThan(64);
  });

  it('head, marker and tail are told apart', () => {
    expect(readView(systemHead)).toEqual({
      markerIndex: 1,
      coveredUntil: 6,
      summary: 'what happened until 6',
      tailStart: 2,
      originalCount: 10,
      isFolded: false,
    });
    expect(readView(viewOf('sua'))).toMatchObject({ markerIndex: undefined, coveredUntil: 0, tailStart: 0 });
  });

  it('of several markers the newest counts', () => {
    const { messages } = chat([markerRaw(3), markerRaw(9), ...chatShape('ua')]);

    expect(readView(messages)).toMatchObject({ markerIndex: 1, coveredUntil: 9, originalCount: 11 });
  });

  const shrinking = chat([
    { role: 'system', content: 'rules' },
    ...['Q', 'A', 'B', 'C'].map((letter, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: letter.repeat(100),
    })),
    { role: 'user', content: 'last' },
  ]).messages;

  it('with a window of 1200 only the oldest two of four messages are summarised, and 3 is saved', () => {
    const result = progressInput(shrinking, { target: 5, protectedHead: 1, fits: fitsIn(1200) });

    expect(result).toMatchObject({ status: 'ready', saved: 3, input: { start: 1 } });
    expect(result.status === 'ready' && result.input.messages).toEqual(shrinking.slice(1, 3));
  });

  it.each([
    { start: 1, shape: 'ua', saved: 3 },
    { start: 6, shape: 'Mua', saved: 8 },
    { start: 6, shape: 'uau', saved: 9 },
  ])('"$shape" from $start on reaches $saved', ({ start, shape, saved }) => {
    expect(savedProgress(start, viewOf(shape, 6))).toBe(saved);
  });

  it.each([
    { title: 'a group', previous: undefined, cause: 'group', room: 50 },
    { title: 'the previous summary', previous: 'p'.repeat(400), cause: 'previous-summary', room: 256 },
    { title: 'both', previous: 'p'.repeat(400), cause: 'group', room: 50 },
  ])('nothing is summarised, and nothing left out, when $title is too large', ({ previous, cause, room }) => {
    const stored = previous === undefined ? undefined : { coveredUntil: 2, summary: previous };
    const fits = ({ messages, previousSummary = '' }: ProgressInput) =>
      estimator.countMessages(messages) + previousSummary.length <= room;

    expect(progressInput(shrinking, { target: 5, protectedHead: 1, stored, fits })).toEqual({
      status: 'too-large',
      cause,
    });
  });

  it.each([
    { target: 8, saved: 7 },
    { target: 9, saved: 7 },
    { target: 10, saved: 10 },
    { target: 99, saved: 12 },
  ])('a target of $target parts no group, and saves $saved', ({ target, saved }) => {
    const view = viewOf('sMuCtaua', 6);

    expect(progressInput(view, { target, protectedHead: 1, fits: () => true })).toMatchObject({ saved });
  });

  it('a stored summary is gone on from, so that whole lists make progress as well', () => {
    const stored = { coveredUntil: 3, summary: 'Q and A' };
    const result = progressInput(shrinking, { target: 5, protectedHead: 1, stored, fits: fitsIn(1200) });

    expect(result).toMatchObject({ saved: 5, input: { start: 3, previousSummary: 'Q and A' } });
  });

  it('the summary before is passed on once: the one in the list, or the stored one that reaches further', () => {
    const input = (coveredUntil: number) => {
      const stored = { coveredUntil, summary: 'stored' };
      const result = progressInput(systemHead, { target: 10, protectedHead: 1, stored, fits: () => true });
      return result.status === 'ready' ? result.input : undefined;
    };

    expect(input(6)).toMatchObject({ start: 6, previousSummary: 'what happened until 6' });
    expect(input(8)).toMatchObject({ start: 8, previousSummary: 'stored' });
    // Stored for a longer list than this: it is not about this one.
    expect(input(11)).toMatchObject({ start: 6, previousSummary: 'what happened until 6' });
    for (const one of [input(6), input(8)])
      expect(one?.covered.map(readSummaryMessage)).not.toContain('stored');
    expect(input(6)?.covered.every((message) => readSummaryMessage(message) === undefined)).toBe(true);
  });
});

describe('what is shown next', () => {
  it.each([
    { shape: 'sMuaua', saved: 8, start: 4 },
    { shape: 'sMuaua', saved: 6, start: 2 },
    { shape: 'sMuaua', saved: 10, start: 6 },
    { shape: 'suaua', saved: 3, start: 3 },
    { shape: 'sMuaua', saved: 5, start: undefined },
    { shape: 'sMuaua', saved: 11, start: undefined },
    { shape: 'suaua', saved: 2.5, start: undefined },
  ])('in "$shape" with a marker for 6 a boundary of $saved is at $start', ({ shape, saved, start }) => {
    expect(previewTailStart(viewOf(shape, 6), saved)).toBe(start);
  });

  it('the next view is head, marker and what the boundary leaves', () => {
    const next = nextView(systemHead, { format: openaiChat, summary: 'more', saved: 8, protectedHead: 1 });

    expect(next?.slice(0, 1)).toEqual(systemHead.slice(0, 1));
    expect(next?.slice(2)).toEqual(systemHead.slice(4));
    expect(findMarker(next ?? [])).toEqual({ index: 1, coveredUntil: 8, summary: 'more' });
  });

  it.each([0, 11])('there is no next view for a boundary of %i', (saved) => {
    const options = { format: openaiChat, summary: 'more', saved, protectedHead: 1 };

    expect(nextView(systemHead, options)).toBeUndefined();
    expect(nextView(viewOf('suaua'), options)).toBeUndefined();
  });
});
