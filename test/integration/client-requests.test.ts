import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { writeConversation } from '../../src/conversation/format.ts';
import { groupRounds } from '../../src/conversation/rounds.ts';
import { recogniseFormat } from '../../src/formats/registry.ts';
import { type Recording, readRecordings } from '../../src/transcripts/recordings.ts';
import { capturesFolder, corpusIsMissing } from '../support/corpus.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

/** What the path of a request says about its format. */
const formatsByPath: readonly (readonly [path: RegExp, format: string])[] = [
  [/\/v1\/messages(?:\/count_tokens)?(?:\?|$)/, 'anthropic-messages'],
  [/\/chat\/completions(?:\?|$)/, 'openai-chat'],
  [/\/responses(?:\?|$)/, 'openai-responses'],
  [/:(?:stream)?generateContent(?:\?|$)/i, 'gemini'],
];

/** A request, and the types of blocks that nobody knows what to make of but the provider. */
interface ClientRequest {
  readonly name: string;
  readonly format: string | undefined;
  readonly body: unknown;
}

const OPAQUE_TYPES = new Set(['compaction_trigger', 'additional_tools']);

function capturedRequests(): readonly ClientRequest[] {
  if (capturesFolder === undefined) return [];
  const index = JSON.parse(readFileSync(join(capturesFolder, 'index.json'), 'utf8')) as {
    file: string;
    url: string;
  }[];
  return index.map(({ file, url }) => ({
    name: file,
    format: formatsByPath.find(([path]) => path.test(url))?.[1],
    body: JSON.parse(readFileSync(join(capturesFolder ?? '', file), 'utf8')),
  }));
}

const inputText = (text: string) => ({ type: 'input_text', text });
const outputText = (text: string) => ({ type: 'output_text', text });
const turnItems = [
  { type: 'message', role: 'developer', content: [inputText('Work in small steps.')] },
  { type: 'message', role: 'user', content: [inputText('Look at the files here.')] },
  { type: 'reasoning', summary: [], content: null, encrypted_content: 'b3BhcXVl' },
  { type: 'message', role: 'assistant', content: [outputText('Looking.')], phase: 'commentary' },
  { type: 'function_call', name: 'shell', arguments: '{"cmd":"ls"}', call_id: 'call_1' },
  { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
];
const shell = { type: 'function', name: 'shell', parameters: { type: 'object' }, strict: false };

/** Small requests in the shapes in which clients send theirs. */
const writtenRequests: readonly ClientRequest[] = [
  {
    name: 'a turn of Responses items, the prompt among them, reasoning without an id',
    format: 'openai-responses',
    body: { model: 'gpt-5.5', input: turnItems, tools: [shell], store: false, stream: true },
  },
  {
    name: 'an order to compact behind the items',
    format: 'openai-responses',
    body: { model: 'gpt-5.5', input: [...turnItems, { type: 'compaction_trigger' }], tools: [shell] },
  },
  {
    name: 'what the provider compacted in front of the items',
    format: 'openai-responses',
    body: {
      model: 'gpt-5.5',
      input: [...turnItems.slice(0, 2), { type: 'compaction', encrypted_content: 'b3BhcXVl' }],
    },
  },
  {
    name: 'a turn with system messages in the middle and a cache breakpoint',
    format: 'anthropic-messages',
    body: {
      model: 'claude-opus-5-5',
      max_tokens: 64_000,
      system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        { role: 'system', content: 'Mind the style guide.' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: '', signature: 'c2ln' },
            { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
      ],
      tools: [{ name: 'Bash', input_schema: { type: 'object' } }],
      stream: true,
    },
  },
  {
    name: 'a count of tokens without a limit of the output',
    format: 'anthropic-messages',
    body: {
      model: 'claude-opus-5-5',
      messages: [{ role: 'user', content: 'foo' }],
      tools: [{ name: 'Bash', input_schema: { type: 'object' } }],
    },
  },
  {
    name: 'a chat turn with calls beside the content',
    format: 'openai-chat',
    body: {
      model: 'gpt-5.5',
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'sh', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
      ],
      stream: true,
    },
  },
  {
    name: 'a Gemini turn with signed calls',
    format: 'gemini',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'Setting.' }, { text: 'Look.' }] },
        { role: 'model', parts: [{ functionCall: { name: 'sh', args: {} }, thoughtSignature: 'c2ln' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'sh', response: { output: 'a.txt' } } }] },
      ],
      systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
      tools: [{ functionDeclarations: [{ name: 'sh' }] }],
    },
  },
];

const captured = capturedRequests();
if (captured.length === 0) console.log(`requests of real clients skipped: ${corpusIsMissing}`);

describe('a request of a client', () => {
  it.each([...writtenRequests, ...captured])(
    'is recognised, read whole and written back: $name',
    async ({ format, body }) => {
      deepFreeze(body);
      const recognised = recogniseFormat(body);
      expect(recognised?.name).toBe(format);
      const conversation = recognised!.read(body);

      expect(conversation.messages.length).toBeGreaterThan(0);
      expect(writeConversation(conversation)).toBe(body);
      for (const { blocks } of conversation.messages) {
        expect(blocks.length).toBeGreaterThan(0);
        for (const block of blocks)
          if (block.type === 'other') expect(OPAQUE_TYPES).toContain(block.wireType);
      }
    },
  );

  it.each([...writtenRequests, ...captured])('is found in a file: $name', async ({ format, body }) => {
    const { transcript, conversations } = await readText(JSON.stringify(body));

    expect(transcript).toMatchObject({ reader: 'json', format });
    expect(writeConversation(conversations[0]!)).toEqual(body);
    expect(transcript.segments[0]?.origins).toHaveLength(conversations[0]!.messages.length);
  });
});

async function readText(text: string): Promise<Recording> {
  const bytes = new TextEncoder().encode(text);
  const recordings: Recording[] = [];
  const bad: unknown[] = [];
  const source = {
    name: 'a file',
    sizeBytes: bytes.length,
    async *open() {
      yield bytes;
    },
  };
  for await (const recording of readRecordings(source, { onBadInput: (input) => void bad.push(input) })) {
    recordings.push(recording);
  }
  expect(bad).toEqual([]);
  expect(recordings).toHaveLength(1);
  return recordings[0]!;
}

const lines = (...records: readonly unknown[]) => records.map((record) => JSON.stringify(record)).join('\n');

const piTurn = (content: unknown, more: object = {}) => ({
  type: 'message',
  message: {
    role: 'assistant',
    content,
    api: 'openai-responses',
    provider: 'openai',
    model: 'gpt-5.5',
    usage: { input: 900, output: 40, cacheRead: 0, cacheWrite: 0 },
    stopReason: 'stop',
    ...more,
  },
});
const piUser = (text: string) => ({
  type: 'message',
  message: { role: 'user', content: [{ type: 'text', text }] },
});
const piCall = (id: string) => ({ type: 'toolCall', id, name: 'bash', arguments: { command: 'ls' } });
const piResult = (id: string) => ({
  type: 'message',
  message: {
    role: 'toolResult',
    toolCallId: id,
    toolName: 'bash',
    content: [{ type: 'text', text: 'a.txt' }],
  },
});
const sealed = JSON.stringify({ id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'b3Bh' });
const geminiAnswer = { functionResponse: { id: 'sh_1', name: 'sh', response: { output: 'a.txt' } } };

describe('a session file of a client', () => {
  const sessions = [
    {
      name: 'of pi with the Responses API',
      rounds: 3,
      text: lines(
        { type: 'session', version: 3, id: 's', cwd: '/w' },
        piUser('Look.'),
        piTurn([
          { type: 'thinking', thinking: 'hm', thinkingSignature: sealed },
          piCall('call_1|fc_1'),
          piCall('call_2|fc_2'),
        ]),
        piResult('call_1|fc_1'),
        piResult('call_2|fc_2'),
        piTurn([{ type: 'text', text: 'One file.' }]),
      ),
    },
    {
      name: 'of pi that went on with Anthropic',
      rounds: 3,
      text: lines(
        { type: 'session', version: 3, id: 's', cwd: '/w' },
        piUser('Look.'),
        piTurn([piCall('call_1|fc_1')]),
        piResult('call_1|fc_1'),
        piTurn([{ type: 'text', text: 'One file.' }], {
          api: 'anthropic-messages',
          model: 'claude-opus-4-5',
        }),
      ),
    },
    {
      name: 'of Gemini CLI, whose responses are recorded twice',
      rounds: 3,
      text: lines(
        { sessionId: 's', projectHash: 'p', kind: 'main' },
        { id: '1', type: 'user', content: [{ text: 'Look.' }] },
        { id: '2', type: 'gemini', content: '', model: 'gemini-2.5-pro' },
        {
          id: '2',
          type: 'gemini',
          content: '',
          model: 'gemini-2.5-pro',
          toolCalls: [{ id: 'sh_1', name: 'sh', args: {}, result: [geminiAnswer], status: 'success' }],
        },
        { id: '3', type: 'user', content: [geminiAnswer] },
        { id: '4', type: 'gemini', content: 'One file.', model: 'gemini-2.5-pro' },
      ),
    },
  ];

  it.each(sessions)('$name is legal as it is read', async ({ text, rounds }) => {
    const { transcript, conversations } = await readText(text);
    const [conversation] = conversations;
    const context = { scope: 'messages', model: transcript.model } as const;

    expect(findContract(transcript.format)?.check(writeConversation(conversation!), context)).toEqual([]);
    expect(groupRounds(conversation!.messages)).toHaveLength(rounds);
  });
});
