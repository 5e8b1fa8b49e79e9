import { describe, expect, it } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import { roundfoldChat } from './reader.ts';

const header = { type: 'roundfold-chat', version: 1, format: 'anthropic-messages', model: 'm', pins: [] };
const messages = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: [{ type: 'text', text: 'ho' }] },
];
const change = { type: 'roundfold-compaction', isUndone: false, strategy: 's', before: 2, after: messages };

describe('saved chats', () => {
  it('are their messages, in the format of their header; what undoes is no part of them', () => {
    const transcript = foldTranscript(roundfoldChat, [header, ...messages, change]);

    expect(transcript).toMatchObject({ format: 'anthropic-messages', model: 'm', kind: 'main', notes: [] });
    expect(bodyOf(transcript)).toEqual(messages);
    expect(transcript.segments[0]?.origins.map(({ place }) => place.line)).toEqual([2, 3]);
  });

  it('that nobody has said anything in hold no conversation', () => {
    expect(foldRecords(roundfoldChat, [header])).toEqual({ transcripts: [], bad: [] });
  });

  it('tell what has no place in them', () => {
    const { transcripts, bad } = foldRecords(roundfoldChat, [header, messages[0], 'odd', { role: 3 }]);

    expect(transcripts.length).toBe(1);
    expect(bad.map(({ place }) => place.line)).toEqual([3, 4]);
  });
});
