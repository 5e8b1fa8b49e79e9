import { describe, expect, it } from 'vitest';
import { hasToolCall } from '../../src/conversation/index.ts';
import { foldView } from '../../src/formats/folded/fold.ts';
import { unfoldView } from '../../src/formats/folded/unfold.ts';
import { type Conversation, convertConversation, writeConversation } from '../../src/index.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { rawsOf } from '../support/small-sessions.ts';

const TIMEOUT_MS = 120_000;

const sessions = corpusFiles().filter(({ file }) => !file.startsWith('api-cassettes/'));
const isMissing = sessions.length === 0;
const seen = { conversations: 0, plain: 0, unfolded: 0, folded: 0, refused: 0, withCalls: 0, calls: 0 };

/** Says `null` where a call has no text. */
function normal(conversation: Conversation): readonly unknown[] {
  return rawsOf(conversation).map((raw) => {
    const { content = null, ...rest } = raw as Record<string, unknown>;
    return { ...rest, content: rest['tool_calls'] !== undefined && content === '' ? null : content };
  });
}

/** Chat messages with the fields that every server knows, and no others. */
function plainChat(recorded: Conversation): Conversation {
  const other = recorded.format.name === 'openai-responses' ? 'anthropic-messages' : 'openai-responses';
  return convertConversation(convertConversation(recorded, other).conversation, 'openai-chat').conversation;
}

/** What a client that folds would keep, read again and unfolded. */
function throughFolding(native: Conversation): void {
  const view = foldView(native);
  if (view.status === 'refused') {
    seen.refused++;
    expect(view.conversation).toBe(native);
    return;
  }
  seen.folded++;
  const calls = native.messages.filter(hasToolCall).length;
  seen.withCalls += calls > 0 ? 1 : 0;
  seen.calls += calls;
  const kept: unknown = JSON.parse(JSON.stringify(writeConversation(view.conversation)));
  const bytes = JSON.stringify(kept);
  const folded = native.format.read(kept);
  const unfolded = unfoldView(folded);
  expect(unfolded.status).toBe(calls > 0 ? 'unfolded' : 'plain');
  expect(normal(unfolded.conversation)).toEqual(normal(native));
  if (unfolded.status !== 'unfolded') return;
  seen.unfolded++;
  const back = foldView(unfolded.conversation, unfolded.foldings);
  expect(JSON.stringify(writeConversation(back.conversation))).toBe(bytes);
}

describe.skipIf(isMissing)(
  `recorded sessions, folded${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`,
  () => {
    it.each(sessions)(
      '$file is plain as it was recorded, and comes back from folding',
      async ({ file }) => {
        for await (const { conversations } of readRecordings(await fileSource(corpusPath(file)))) {
          for (const recorded of conversations) {
            seen.conversations++;
            const conversation = plainChat(recorded);
            const view = unfoldView(conversation);
            if (view.status === 'plain') seen.plain++;
            expect(view.conversation).toBe(conversation);
            throughFolding(conversation);
          }
        }
      },
      TIMEOUT_MS,
    );

    it('had calls to fold', () => {
      console.log(`folded views of recorded sessions: ${JSON.stringify(seen)}`);

      expect(seen.unfolded).toBe(seen.withCalls);
      expect(seen.unfolded).toBeGreaterThan(150);
    });
  },
);
