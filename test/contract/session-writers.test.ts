import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, withMessages, writeConversation } from '../../src/conversation/format.ts';
import { isObject } from '../../src/conversation/json.ts';
import { summaryMessageText } from '../../src/conversation/summary-message.ts';
import { convertConversation } from '../../src/formats/convert/convert.ts';
import { mendConversation } from '../../src/formats/mend/mend.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { type Recording, readRecordings } from '../../src/transcripts/recordings.ts';
import { sessionWriters } from '../../src/transcripts/registry.ts';
import { type NewSession, type SessionWriter, writeSession } from '../../src/transcripts/session-writer.ts';
import { codingSession, serviceSession } from '../fixtures/sessions/example-sessions.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { bodyChoices, writeConversationOf } from '../support/random-bodies.ts';
import { spokenIn } from '../support/spoken.ts';

const about: NewSession = {
  folder: '/home/ada/a project',
  model: 'claude-opus-4-6',
  recorded: undefined,
  now: new Date('2026-11-18T09:30:00.250Z'),
  createId: randomUUID,
  tokensBefore: 90_000,
};

const environment = { home: '/home/ada', variables: {} };

async function readBack(text: string): Promise<readonly Recording[]> {
  const bytes = Buffer.from(text);
  const open = async function* () {
    yield bytes;
  };
  const found: Recording[] = [];
  for await (const recording of readRecordings({ name: 'written', sizeBytes: bytes.length, open }))
    found.push(recording);
  return found;
}

/** A conversation as a compaction leaves it, from a value in some format. */
function conversationOf(format: string, value: unknown): Conversation {
  const found = findFormat(format);
  if (found === undefined) throw new Error(`no format ${format}`);
  return mendConversation(found.read(deepFreeze(value))).conversation;
}

/** What the agent is meant to send: the conversation in a format of the writer's. */
function meantBy(writer: SessionWriter, conversation: Conversation): Conversation {
  const isTaken = writer.formats.includes(conversation.format.name);
  return isTaken ? conversation : convertConversation(conversation, writer.formats[0] ?? '').conversation;
}

/** Every value of the ids that the agent knows records by. */
function idsIn(value: unknown): readonly string[] {
  const records: readonly unknown[] =
    isObject(value) && Array.isArray(value['messages'])
      ? [
          value['info'],
          ...value['messages'].flatMap((message) =>
            isObject(message) && Array.isArray(message['parts'])
              ? [message['info'], ...message['parts']]
              : [],
          ),
        ]
      : [value];
  return records.flatMap((record) => {
    const id = isObject(record) ? (record['uuid'] ?? record['id']) : undefined;
    return typeof id === 'string' ? [id] : [];
  });
}

function recordsOf(text: string): readonly unknown[] {
  return text.startsWith('{\n')
    ? [JSON.parse(text)]
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
}

/** Where something had to change, which is told, every word, call and result is still there in its order. */
function expectSaid(read: Conversation, meant: Conversation): void {
  const left = partsIn(read).values();
  for (const part of partsIn(meant)) {
    const isThere = left.some((other) => isPart(other, part));
    expect(isThere, JSON.stringify(part)).toBe(true);
  }
}

/** What was attached to a result may have been replaced by a note. */
function isPart(read: unknown, meant: unknown): boolean {
  const shown = (part: unknown): string =>
    JSON.stringify(
      isObject(part) && isObject(meant) && meant['hasMore'] === true
        ? { result: part['result'], isError: part['isError'] }
        : isObject(part)
          ? { ...part, media: undefined, hasMore: undefined }
          : part,
    );
  return shown(read) === shown(meant);
}

function partsIn({ messages }: Conversation): readonly unknown[] {
  return spokenIn(messages)
    .flatMap(({ parts }) => parts)
    .filter((part) => !isObject(part) || (typeof part['media'] !== 'string' && !('reasoning' in part)));
}

async function expectFaithful(writer: SessionWriter, conversation: Conversation): Promise<void> {
  const meant = meantBy(writer, conversation);
  const written = writeSession(writer, conversation, about);
  const [recording, ...others] = await readBack(written.text);

  expect(others).toEqual([]);
  expect(recording?.transcript.reader).toBe(writer.name);
  expect(recording?.transcript.session?.folder).toBe(about.folder);
  expect(recording?.conversations).toHaveLength(1);
  const read = recording!.conversations[0]!;
  // A file of pi tells the wire format by its answers.
  if (meant.messages.some(({ role }) => role === 'assistant'))
    expect(read.format.name).toBe(meant.format.name);
  if (written.changes.length === 0) expect(spokenIn(read.messages)).toEqual(spokenIn(meant.messages));
  else expectSaid(read, meant);
  const judged = findContract(read.format.name)!.check(writeConversation(read), { scope: 'messages' });
  const meantJudged = findContract(meant.format.name)!.check(writeConversation(meant), { scope: 'messages' });
  if (!meantJudged.some(({ severity }) => severity === 'error'))
    expect(judged.filter(({ severity }) => severity === 'error')).toEqual([]);
  const ids = recordsOf(written.text).flatMap(idsIn);
  expect(new Set(ids).size).toBe(ids.length);
}

describe.each(sessionWriters)('a session written for $name', (writer) => {
  it.each([
    { what: 'of a coding agent', session: codingSession },
    { what: 'with a customer', session: serviceSession },
  ])('holds what was meant of a session $what', async ({ session }) => {
    await expectFaithful(writer, conversationOf('anthropic-messages', session));
  });

  it('holds what was meant of any legal conversation, in whichever format it was', async () => {
    await fc.assert(
      fc.asyncProperty(
        bodyChoices(['anthropic-messages', 'openai-chat', 'openai-responses', 'gemini']),
        async (choice) => {
          const { format, body } = writeConversationOf(choice);
          await expectFaithful(writer, conversationOf(format, body));
        },
      ),
      { numRuns: 60, seed: 22 },
    );
  });

  it('keeps a memory with the messages around it, in their order', async () => {
    const whole = conversationOf('anthropic-messages', codingSession);
    const memory = whole.format.userMessages([
      whole.format.textBlock(summaryMessageText('Lines were rounded one by one.')),
    ]);
    const small = withMessages(whole, [whole.messages[0]!, ...memory, ...whole.messages.slice(-6)]);
    await expectFaithful(writer, small);
  });

  it('has a place below the home of the user and a command that names it', () => {
    const written = writeSession(writer, conversationOf('anthropic-messages', codingSession), about);
    const { path, command } = writer.locate(written, about, environment);

    expect(path.startsWith(environment.home)).toBe(true);
    expect(command).toContain(written.id);
  });

  it('says nothing of what was spent: no request was made with it yet', async () => {
    const { text } = writeSession(writer, conversationOf('anthropic-messages', codingSession), about);
    const [recording] = await readBack(text);
    const usages = recording!.conversations[0]!.messages.map(({ usage }) => usage?.promptTokens ?? 0);

    expect(new Set(usages)).toEqual(new Set([0]));
  });
});

const agents = new Set(['claude-code', 'codex-rollout', 'pi-session', 'opencode']);
const recorded = corpusFiles().filter(({ file }) => agents.has(file.split('/')[0] ?? ''));
const isMissing = corpusFolder === undefined;

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  it.each(recorded)(
    '$file is written for every agent as it was meant',
    async ({ file }) => {
      for await (const { conversations } of readRecordings(await fileSource(corpusPath(file)))) {
        const live = conversations.at(-1);
        if (live === undefined) continue;
        const { conversation } = mendConversation(live);
        for (const writer of sessionWriters) await expectFaithful(writer, conversation);
      }
    },
    60_000,
  );
});
