import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, describe, expect, it } from 'vitest';
import { createScript, type ScriptSettings } from '../../src/simulator/scripted.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { runCli } from '../support/cli.ts';

const tools = [
  { type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } },
  { type: 'function', function: { name: 'shell', parameters: { type: 'object', properties: {} } } },
] as const;

const settings: ScriptSettings = {
  rounds: 3,
  steps: [
    {
      text: 'Part {round}.',
      calls: [{ tool: ['bash', 'shell'], input: { command: 'cat part-{round}.txt' } }],
    },
    {
      calls: [
        { tool: 'read', input: { path: 'part-{round}.txt', lines: [1, '{rounds}'] } },
        { tool: 'shell', input: {} },
      ],
    },
  ],
  answer: 'All {rounds} parts are read.',
  compaction: 'We are at {round} of {rounds}.',
  compactionPrompts: ['Please fold this'],
  aside: 'A title',
};

type Messages = OpenAI.ChatCompletionMessageParam[];

/** A client that runs the tools it is asked to run, and keeps its history in the list that it is given. */
async function startScript() {
  const simulator = await startSimulator({ script: createScript(settings) });
  const client = new OpenAI({ apiKey: 'any', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
  const ask = async (messages: Messages, offered: readonly (typeof tools)[number][] = tools) => {
    const { choices } = await client.chat.completions.create({
      model: 'gpt-4.1',
      messages,
      ...(offered.length > 0 ? { tools: [...offered] } : {}),
    });
    const message = choices[0]!.message;
    const { content: text, tool_calls: calls = [] } = message;
    if (offered === tools) {
      messages.push(message);
      for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'A part.' });
    }
    return [
      text,
      ...calls.map((call) =>
        call.type === 'function' ? `${call.function.name} ${call.function.arguments}` : '',
      ),
    ];
  };
  return { ask, close: () => simulator.close() };
}

describe('a scripted model', () => {
  it('plays its rounds, its answer, and what it says to requests that are no part of them', async () => {
    const { ask, close } = await startScript();
    const first: Messages = [{ role: 'user', content: 'Begin.' }];
    expect(await ask(first)).toEqual(['Part 1.', 'shell {"command":"cat part-1.txt"}']);
    expect(await ask([{ role: 'user', content: 'A title, please.' }], [])).toEqual(['A title']);
    expect(await ask(first)).toEqual([null, 'read {"path":"part-2.txt","lines":[1,"3"]}', 'shell {}']);
    const folding = { role: 'user', content: 'Please fold this conversation.' } as const;
    expect(await ask([...first, folding])).toEqual(['We are at 2 of 3.']);
    const checkpoint = 'You are performing a CONTEXT CHECKPOINT COMPACTION. Go.';
    expect(await ask([...first, { role: 'user', content: checkpoint }])).toEqual(['We are at 2 of 3.']);
    expect(await ask([...first], [tools[0]])).toEqual([
      'The script calls bash or shell, which this request does not offer. Offered: read.',
    ]);
    expect(await ask(first)).toEqual(['Part 3.', 'shell {"command":"cat part-3.txt"}']);
    expect(await ask(first)).toEqual(['All 3 parts are read.']);
    await close();
  });

  it('plays anew in every conversation, also for those that take turns, and for a question behind the answer', async () => {
    const { ask, close } = await startScript();
    const left: Messages = [{ role: 'user', content: 'Begin.' }];
    const right: Messages = [{ role: 'user', content: 'Begin.' }];
    expect(await ask(left)).toEqual(['Part 1.', 'shell {"command":"cat part-1.txt"}']);
    await ask(left);
    expect(await ask(right)).toEqual(['Part 1.', 'shell {"command":"cat part-1.txt"}']);
    expect(await ask(left)).toEqual(['Part 3.', 'shell {"command":"cat part-3.txt"}']);
    expect(await ask(right)).toEqual([null, expect.stringContaining('part-2.txt'), 'shell {}']);
    expect(await ask(left)).toEqual(['All 3 parts are read.']);
    left.push({ role: 'user', content: 'Once more.' });
    expect(await ask(left)).toEqual(['Part 1.', 'shell {"command":"cat part-1.txt"}']);
    await close();
  });

  it('gives a request that is sent again the same answer', async () => {
    const { ask, close } = await startScript();
    const messages: Messages = [{ role: 'user', content: 'Begin.' }];
    await ask(messages);
    const again = [...messages];
    expect(await ask(messages)).toEqual(await ask(again));
    await ask(messages);
    const last = [...messages];
    expect(await ask(messages)).toEqual(['All 3 parts are read.']);
    expect(await ask(last)).toEqual(['All 3 parts are read.']);
    await close();
  });

  it.each([
    {
      by: 'a proxy that leaves the newest call',
      kept: 2,
      said: '[earlier conversation summary] Much was done.',
    },
    { by: 'a proxy that leaves no call', kept: 0, said: '[earlier conversation summary] Much was done.' },
    { by: 'a client, to what the script told it', kept: 0, said: 'The story so far: We are at 1 of 3.' },
  ])('goes on where the history was compacted by $by', async ({ kept, said }) => {
    const { ask, close } = await startScript();
    const messages: Messages = [{ role: 'user', content: 'Begin.' }];
    await ask(messages);
    await ask([...messages, { role: 'user', content: 'Please fold this conversation.' }]);
    const compacted: Messages = [
      { role: 'user', content: 'Begin.' },
      { role: 'user', content: said },
      ...messages.slice(messages.length - kept),
    ];
    expect(await ask(compacted)).toEqual([null, expect.stringContaining('part-2.txt'), 'shell {}']);
    await close();
  });

  it.each<{ given: unknown; path: string | undefined; words: string }>([
    { given: [], path: undefined, words: 'an object' },
    { given: {}, path: 'steps', words: 'a list with at least one step' },
    { given: { steps: [] }, path: 'steps', words: 'at least one' },
    { given: { steps: [{ calls: [] }], turns: 3 }, path: 'turns', words: 'one of steps, rounds' },
    { given: { steps: [{ calls: [] }], rounds: 0 }, path: 'rounds', words: 'a whole number from 1 on' },
    { given: { steps: [{ text: 'Hi' }] }, path: 'steps.0.calls', words: 'a list of calls' },
    { given: { steps: [{ calls: [{ tool: [] }] }] }, path: 'steps.0.calls.0.tool', words: 'a name' },
    {
      given: { steps: [{ calls: [{ tool: 'a', input: 'b' }] }] },
      path: 'steps.0.calls.0.input',
      words: 'an object',
    },
  ])('is refused where it is wrong: $given', ({ given, path, words }) => {
    expect(() => createScript(given as ScriptSettings)).toThrow(
      expect.objectContaining({
        code: 'usage',
        place: path === undefined ? undefined : { path },
        message: expect.stringContaining(words) as string,
      }),
    );
  });
});

describe('roundfold simulate --script', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roundfold-script-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    { text: undefined, words: 'cannot read the script' },
    { text: '{ steps: ', words: 'the script is no JSON' },
    { text: '{ "steps": 3 }', words: `"steps" has to be a list` },
  ])('says what is wrong with a file of $text', async ({ text, words }) => {
    const file = join(folder, 'script.json');
    if (text === undefined) rmSync(file, { force: true });
    else writeFileSync(file, text);
    const { code, stderr } = await runCli(['simulate', '--script', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});
