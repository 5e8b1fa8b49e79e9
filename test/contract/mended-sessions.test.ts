import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findFormat } from '../../src/formats/registry.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { mendSession } from '../../src/transcripts/mend-session.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { faultOfMending, mangledSessions } from '../support/mangled-sessions.ts';

const anthropic = findFormat('anthropic-messages')!;
const context = { scope: 'messages', model: 'claude-opus-4-6' } as const;

describe('a broken session file', () => {
  it('is legal once it is mended, and no word or call of it is lost', async () => {
    await fc.assert(
      fc.asyncProperty(mangledSessions, async (session) => {
        expect(await faultOfMending(session)).toBeUndefined();
      }),
      { numRuns: 300, seed: 22 },
    );
  });
});

describe('pictures that a provider refuses', () => {
  const picture = (data: string) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  });
  const tooLarge = picture('A'.repeat(11 * 1024 * 1024));
  const small = picture('AAAA');

  it('become a note, wherever they stand, and others stay', () => {
    const list = [
      { role: 'user', content: [small, tooLarge, { type: 'text', text: 'what is this?' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'shot', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [tooLarge, small] }] },
    ];
    const { conversation, repairs, violations } = mendSession(anthropic.read(list), context);
    const note = { type: 'text', text: expect.stringContaining('image left out') };

    expect(violations).toEqual([]);
    expect(repairs).toEqual([{ what: expect.any(String), became: 'replaced by a note', count: 2 }]);
    expect(conversation.messages[0]?.raw).toMatchObject({ content: [small, note, list[0]?.content[2]] });
    expect(conversation.messages[2]?.raw).toMatchObject({ content: [{ content: [note, small] }] });
  });

  it('are the oldest where there are too many', () => {
    const list = Array.from({ length: 603 }, (_, index) => ({
      role: 'user',
      content: [picture(`AAA${String.fromCharCode(65 + (index % 26))}`), { type: 'text', text: `${index}` }],
    }));
    const { conversation, violations } = mendSession(anthropic.read(list), context);
    const kept = conversation.messages.map(({ blocks }) => blocks[0]?.type === 'media');

    expect(violations).toEqual([]);
    expect(kept.indexOf(true)).toBeGreaterThan(0);
    expect(kept.slice(kept.indexOf(true))).not.toContain(false);
  });
});

const isMissing = corpusFolder === undefined;

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  const sessions = corpusFiles().filter(({ file }) => !file.startsWith('api-cassettes'));

  it.each(sessions)(
    '$file is legal once it is mended',
    async ({ file }) => {
      for await (const { conversations, transcript } of readRecordings(await fileSource(corpusPath(file)))) {
        for (const conversation of conversations) {
          const judged = { scope: 'messages', model: transcript.model } as const;
          expect(mendSession(conversation, judged).violations).toEqual([]);
        }
      }
    },
    60_000,
  );
});
