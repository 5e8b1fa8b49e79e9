import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Conversation } from '../../src/conversation/format.ts';
import { isObject } from '../../src/conversation/json.ts';
import { mendConversation } from '../../src/formats/mend/mend.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { mendSession } from '../../src/transcripts/mend-session.ts';
import { type Recording, readRecordings } from '../../src/transcripts/recordings.ts';
import { sessionWriters } from '../../src/transcripts/registry.ts';
import { type NewSession, writeSession } from '../../src/transcripts/session-writer.ts';
import { type BodyChoice, bodyChoices, writeConversationOf } from './random-bodies.ts';
import { spokenIn } from './spoken.ts';

/** What can happen to the lines of a session file; places beyond the end wrap around. */
const mangles = {
  lost: (lines, at) => lines.toSpliced(at, 1),
  twice: (lines, at) => lines.toSpliced(at, 0, lines[at] ?? ''),
  halved: (lines, at) => lines.with(at, (lines[at] ?? '').slice(0, Math.floor((lines[at] ?? '').length / 2))),
  joined: (lines, at) => lines.toSpliced(at, 2, `${lines[at] ?? ''}${lines[at + 1] ?? ''}`),
  swapped: (lines, at) => lines.toSpliced(at, 2, ...lines.slice(at, at + 2).toReversed()),
  'cut off': (lines, at) => lines.slice(0, Math.max(2, at)),
  'without its parent': (lines, at) => lines.with(at, (lines[at] ?? '').replace(PARENT, '$1"nobody"')),
  'without its beginning': (lines, at) => lines.toSpliced(1, Math.min(at, lines.length - 3)),
} as const satisfies Record<string, (lines: readonly string[], at: number) => readonly string[]>;

const PARENT = /("parent(?:Uuid|Id)":)"[^"]{1,60}"/;

/** A session as an agent would have written it, and what became of its file. */
export interface MangledSession {
  readonly writer: string;
  readonly body: BodyChoice;
  readonly damages: readonly { readonly kind: keyof typeof mangles; readonly at: number }[];
}

const LINE_WRITERS = ['claude-code', 'codex', 'pi'];

/** Sessions of the agents that write lines, broken in up to four ways. */
export const mangledSessions: fc.Arbitrary<MangledSession> = fc.record({
  writer: fc.constantFrom(...LINE_WRITERS),
  body: bodyChoices(['anthropic-messages', 'openai-chat', 'openai-responses']),
  damages: fc.array(
    fc.record({
      kind: fc.constantFrom(...(Object.keys(mangles) as (keyof typeof mangles)[])),
      at: fc.nat(200),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

const about: NewSession = {
  folder: '/home/ada/work',
  model: 'claude-opus-4-6',
  recorded: undefined,
  now: new Date('2026-11-18T09:30:00Z'),
  createId: randomUUID,
};

function writerNamed(name: string) {
  const writer = sessionWriters.find((each) => each.name === name);
  if (writer === undefined) throw new Error(`no writer ${name}`);
  return writer;
}

/** The text of the broken file. */
export function mangledText({ writer, body, damages }: MangledSession): string {
  const { format, body: value } = writeConversationOf(body);
  const read = findFormat(format)?.read(value);
  if (read === undefined) throw new Error(`no format ${format}`);
  const { conversation } = mendConversation(read);
  const { text } = writeSession(writerNamed(writer), conversation, about);
  let lines: readonly string[] = text.trimEnd().split('\n');
  for (const { kind, at } of damages) if (lines.length > 0) lines = mangles[kind](lines, at % lines.length);
  return `${lines.join('\n')}\n`;
}

export async function readText(text: string): Promise<Recording | undefined> {
  const bytes = Buffer.from(text);
  const open = async function* () {
    yield bytes;
  };
  for await (const recording of readRecordings({ name: 'session', sizeBytes: bytes.length, open }))
    return recording;
  return undefined;
}

/** Why mending a broken session did not do what it should; undefined when it did. */
export async function faultOfMending(session: MangledSession): Promise<string | undefined> {
  const broken = await readText(mangledText(session)).catch(() => undefined);
  const before = broken?.conversations.at(-1);
  if (broken === undefined || before === undefined) return undefined;
  const context = { scope: 'messages', model: broken.transcript.model } as const;
  const mended = mendSession(before, context);
  const [violation] = mended.violations;
  if (violation !== undefined) return `the mended conversation is illegal: ${violation.message}`;
  const writer = sessionWriters.find(({ name }) => name === broken.transcript.reader);
  if (writer === undefined) return `read as ${broken.transcript.reader}`;
  const again = await readText(writeSession(writer, mended.conversation, about).text);
  const after = again?.conversations.at(-1);
  if (again === undefined || after === undefined) return 'the mended file holds no conversation';
  const [second] = mendSession(after, context).repairs;
  if (second !== undefined) return `the mended file needs mending: ${second.what} ${second.became}`;
  const left = wordsIn(after);
  const lost = [...wordsIn(before)].find((word) => !left.has(word));
  return lost === undefined ? undefined : `lost: ${lost}`;
}

/** Every text, and every call. */
function wordsIn({ messages }: Conversation): ReadonlySet<string> {
  return new Set(
    spokenIn(messages).flatMap(({ parts }) =>
      parts.flatMap((part) => {
        if (typeof part === 'string') return [part];
        return isObject(part) && 'call' in part ? [JSON.stringify([part['name'], part['input']])] : [];
      }),
    ),
  );
}
