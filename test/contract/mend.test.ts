import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';
import type { Block } from '../../src/conversation/message.ts';
import { type Mended, mendConversation } from '../../src/formats/mend/mend.ts';
import { findFormat, readConversation, recogniseFormat } from '../../src/formats/registry.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { recordedExchanges } from '../support/cassettes.ts';
import { steps } from '../support/conversations.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { frameworks } from '../support/framework-conversations.ts';
import { mangle, someMangles } from '../support/mangled.ts';
import { stepWriters, writers } from '../support/step-writers.ts';

interface Judged {
  readonly format: string;
  readonly write: (typeof writers)[string];
  /** What stands around the list in a request that is legal but for it. */
  readonly frame: Readonly<Record<string, unknown>>;
}

const tools = ['read_file', 'bash', 'search'].map((name) => ({ name, input_schema: { type: 'object' } }));

const judged: readonly Judged[] = [
  {
    format: 'anthropic-messages',
    write: writers['anthropic-messages']!,
    frame: { model: 'claude-opus-4-8', max_tokens: 100, tools },
  },
  {
    format: 'anthropic-messages',
    write: writers['anthropic-messages']!,
    frame: { model: 'claude-sonnet-4-5', max_tokens: 100, tools },
  },
  { format: 'openai-chat', write: writers['openai-chat']!, frame: { model: 'gpt-6' } },
  {
    format: 'openai-responses',
    write: writers['openai-responses']!,
    frame: { model: 'gpt-5' },
  },
  { format: 'gemini', write: writers['gemini']!, frame: { model: 'gemini-3-pro' } },
  {
    format: 'ai-sdk-model',
    write: stepWriters['ai-sdk-model']!.write,
    frame: {},
  },
];

const runs = { numRuns: 300 };

/** Texts that somebody said, wherever they stand in a value. */
function textsIn(value: unknown): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === 'tool_calls' && Array.isArray(inner))
      return inner.filter((call) => Object.hasOwn(Object(call), 'function'));
    const isSaid =
      ['text', 'content', 'output', 'value', 'system', 'instructions', ''].includes(key) || /^\d+$/.test(key);
    if (isSaid && typeof inner === 'string' && inner.trim() !== '') texts.push(inner);
    return inner;
  });
  return texts;
}

/** What of a conversation's blocks the other one does not have. */
function blocksMissingIn(other: Conversation, { messages }: Conversation): number {
  const left = new Map<string, number>();
  for (const key of other.messages.flatMap(({ blocks }) => blocks.map(keyOf)))
    left.set(key, (left.get(key) ?? 0) + 1);
  let missing = 0;
  for (const key of messages.flatMap(({ blocks }) => blocks.map(keyOf))) {
    const count = left.get(key) ?? 0;
    if (count === 0) missing++;
    left.set(key, count - 1);
  }
  return missing;
}

function keyOf(block: Block): string {
  return block.type === 'text' ? `text ${block.text}` : JSON.stringify([block.type, block.raw]);
}

/** What has to hold for whatever is mended, legal or not. */
function checkAccount(before: Conversation, { conversation, repairs }: Mended): void {
  const counted = repairs.reduce((sum, { count }) => sum + count, 0);

  expect(conversation === before).toBe(counted === 0);
  expect(blocksMissingIn(conversation, before)).toBeLessThanOrEqual(counted);
  const said = textsIn(writeConversation(conversation)).join('\n');
  expect(textsIn(writeConversation(before)).filter((text) => !said.includes(text))).toEqual([]);
}

describe.each(judged)('mending $format', ({ format: name, write, frame }) => {
  const format = findFormat(name)!;
  const errors = (value: unknown) =>
    findContract(name)!
      .check(value, { scope: Array.isArray(value) ? 'messages' : 'request' })
      .filter(({ severity }) => severity === 'error');
  const bodies = fc.tuple(steps, someMangles, fc.boolean()).map(([list, all, isBare]): unknown => {
    const messages = mangle(write(list), all);
    return deepFreeze(isBare ? messages : { ...frame, [format.listKey]: messages });
  });

  test.prop([steps, fc.boolean()], runs)('leaves what is legal as it is', (list, isBare) => {
    const body = deepFreeze(isBare ? write(list) : { ...frame, [format.listKey]: write(list) });
    fc.pre(errors(body).length === 0);
    const conversation = format.read(body);

    expect(mendConversation(conversation)).toEqual({ conversation, repairs: [] });
    expect(mendConversation(conversation).conversation).toBe(conversation);
  });

  test.prop([bodies], runs)('makes any broken list legal, and twice changes no more', (body) => {
    const mended = writeConversation(mendConversation(format.read(body)).conversation);

    expect(errors(mended)).toEqual([]);
    const again = mendConversation(format.read(deepFreeze(mended)));
    expect(again.repairs).toEqual([]);
    expect(writeConversation(again.conversation)).toBe(mended);
  });

  test.prop([bodies], runs)('loses nothing that was said, and counts whatever it changes', (body) => {
    const conversation = format.read(body);

    checkAccount(conversation, mendConversation(conversation));
  });
});

/** A message of LangChain that was written down as JSON, as the plain message that LangChain reads it as. */
function openConstructor(message: unknown): unknown {
  const { lc, id, kwargs } = message as { lc?: unknown; id?: readonly string[]; kwargs?: object };
  if (lc !== 1 || kwargs === undefined) return message;
  return { ...kwargs, type: id?.at(-1)?.replace('Message', '').toLowerCase() };
}

describe.each(Object.entries(frameworks))('mending %s', (_name, { format: name, write, judge }) => {
  const format = findFormat(name)!;
  const lists = fc.tuple(steps, someMangles).map(([list, all]) => mangle(write(list), all));

  test.prop([steps], runs)('leaves what is legal as it is', (list) => {
    const conversation = format.read(write(list));

    expect(mendConversation(conversation).repairs).toEqual([]);
    expect(mendConversation(conversation).conversation).toBe(conversation);
  });

  test.prop([lists], runs)('makes of any broken list one that a request can be made of', async (list) => {
    const mended = writeConversation(mendConversation(format.read(list)).conversation);

    expect(await judge((mended as readonly unknown[]).map(openConstructor))).toEqual([]);
    expect(mendConversation(format.read(mended)).repairs).toEqual([]);
  });
});

/** Whether a fault is one of the messages. What stands around them mending leaves alone. */
const isOfMessages = (path: string) => /^(?:messages|input|contents)(?:[.[]|$)/.test(path);

const isBody = (body: unknown) => recogniseFormat(body) !== undefined;

const isMissing = corpusFolder === undefined;

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  const sessions = corpusFiles().filter(({ file }) => !file.startsWith('api-cassettes/'));

  it.each(sessions)('are legal once they are mended: $file', async ({ file }) => {
    const faults: unknown[] = [];
    for await (const { transcript, conversations } of readRecordings(await fileSource(corpusPath(file)))) {
      const contract = findContract(transcript.format);
      for (const conversation of conversations) {
        const { model } = transcript;
        const mended = mendConversation(conversation, { model });
        const errorsOf = (one: Conversation) => {
          const body = writeConversation(one);
          const isRequest = transcript.reader === 'json' && !Array.isArray(body);
          const violations =
            contract?.check(body, { scope: isRequest ? 'request' : 'messages', model }) ?? [];
          return violations.filter(({ severity, path }) => severity === 'error' && isOfMessages(path));
        };
        faults.push(...errorsOf(mended.conversation));
        if (errorsOf(conversation).length === 0) faults.push(...mended.repairs);
        else checkAccount(conversation, mended);
      }
    }

    expect(faults).toEqual([]);
  });

  const accepted = recordedExchanges().filter(({ status, body }) => status === 200 && isBody(body));

  it.each(accepted)('stay as they are if a provider has accepted them: $title', ({ body }) => {
    const conversation = readConversation(body);

    expect(mendConversation(conversation)).toEqual({ conversation, repairs: [] });
  });
});

test('a Chat message that is no result loses an id of a call that is too long', () => {
  const stray = { role: 'user', tool_call_id: 'call_2'.repeat(9), content: 'Go on.' };
  const body = deepFreeze({ model: 'gpt-6', messages: [stray] });
  const { conversation, repairs } = mendConversation(findFormat('openai-chat')!.read(body));
  expect(writeConversation(conversation)).toEqual({
    model: 'gpt-6',
    messages: [{ role: 'user', content: 'Go on.' }],
  });
  expect(repairs).toHaveLength(1);
});
