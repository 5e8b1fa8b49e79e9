import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { legalCuts } from '../../src/conversation/cuts.ts';
import { writeConversation } from '../../src/conversation/format.ts';
import { ensureToolResultPairing } from '../../src/conversation/pairing.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { recogniseFormat } from '../../src/formats/registry.ts';
import type { BadInput } from '../../src/transcripts/input/json-values.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { type Recording, readRecordings } from '../../src/transcripts/recordings.ts';
import { recordedExchanges } from '../support/cassettes.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

const UNANSWERED = new Set(['tool-call-without-result', 'tool-results-miscounted']);
const ORPHANS = new Set(['tool-result-without-call']);

const files = corpusFiles();
const sessions = files.filter(({ file }) => !file.startsWith('api-cassettes/'));
const requests = recordedExchanges().filter(({ body }) =>
  ['messages', 'input', 'contents'].some((key) => Object.hasOwn(Object(body), key)),
);

describe.skipIf(files.length === 0)(
  `the corpus${files.length === 0 ? ` (skipped: ${corpusIsMissing})` : ''}`,
  () => {
    it('is there whole', () => {
      expect(sessions.length).toBe(36);
      expect(requests.length).toBeGreaterThan(170);
    });

    it.each(sessions)(
      '$file is read, grouped, cut and written back without loss',
      async ({ file, conversations }) => {
        const { recordings, bad } = await readAll(corpusPath(file));

        expect(recordings.length).toBeGreaterThanOrEqual(
          conversations.length === 1 ? 1 : conversations.length,
        );
        expect(bad).toEqual([]);
        for (const { conversations: segments, transcript } of recordings) {
          for (const [index, conversation] of segments.entries()) {
            const { messages } = conversation;
            const body = deepFreeze(transcript.segments[index]!.body);

            expect(writeConversation(conversation)).toBe(body);
            expect(groupRounds(messages).flatMap(({ start, end }) => messages.slice(start, end))).toEqual(
              messages,
            );
            expect(legalCuts(messages)).toContain(messages.length);
            const repaired = ensureToolResultPairing(conversation);
            expect(errorsOf({ ...transcript, body: writeConversation(repaired) })).toEqual([]);
            expect(ensureToolResultPairing(repaired)).toBe(repaired);
          }
        }
      },
    );

    it.each(sessions)(
      '$file: check finds what the harness broke, by the right rule, and nothing else',
      async ({ file, conversations }) => {
        const { recordings } = await readAll(corpusPath(file));
        const rules = recordings.flatMap(({ transcript }) =>
          transcript.segments.flatMap(({ body }) =>
            errorsOf({ ...transcript, body }).map(({ rule }) => rule),
          ),
        );
        const isBroken = (key: 'unanswered_calls' | 'orphan_results') =>
          conversations.some((one) => (one[key] ?? 0) > 0);

        expect({
          unanswered: rules.some((rule) => UNANSWERED.has(rule)),
          orphans: rules.some((rule) => ORPHANS.has(rule)),
        }).toEqual({
          unanswered: isBroken('unanswered_calls'),
          orphans: isBroken('orphan_results'),
        });
      },
    );

    it.each(requests)('$title is recognised and written back as it was', ({ body }) => {
      const format = recogniseFormat(body);
      expect(format).toBeDefined();
      const conversation = format!.read(deepFreeze(body));
      const { messages } = conversation;

      expect(writeConversation(conversation)).toBe(body);
      expect(groupRounds(messages).flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
    });
  },
);

async function readAll(path: string): Promise<{ recordings: Recording[]; bad: BadInput[] }> {
  const recordings: Recording[] = [];
  const bad: BadInput[] = [];
  const source = await fileSource(path);
  for await (const recording of readRecordings(source, { onBadInput: (input) => void bad.push(input) })) {
    recordings.push(recording);
  }
  return { recordings, bad };
}

function errorsOf({ format, body }: { format: string; body: unknown }) {
  const violations = findContract(format)?.check(body, { scope: 'messages' }) ?? [];
  return violations.filter(({ severity }) => severity === 'error');
}
