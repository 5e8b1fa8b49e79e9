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

describe('a scripted model', () => {
  it('plays its rounds, its answer, and what it says to requests that are no part of them', async () => {
    const simulator = await startSimulator({ script: createScript(settings) });
    const client = new OpenAI({ apiKey: 'any', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
    const ask = async (content: string, offered: readonly (typeof tools)[number][] = tools) => {
      const { choices } = await client.chat.completions.create({
        model: 'gpt-4.1',
        messages: [{ role: 'user', content }],
        ...(offered.length > 0 ? { tools: [...offered] } : {}),
      });
      const { content: text, tool_calls: calls = [] } = choices[0]!.message;
      return [
        text,
        ...calls.map((call) =>
          call.type === 'function' ? `${call.function.name} ${call.function.arguments}` : '',
        ),
      ];
    };
    expect(await ask('Begin.')).toEqual(['Part 1.', 'shell {"command":"cat part-1.txt"}']);
    expect(await ask('A title, please.', [])).toEqual(['A title']);
    expect(await ask('Begin.')).toEqual([null, 'read {"path":"part-2.txt","lines":[1,"3"]}', 'shell {}']);
    expect(await ask('Please fold this conversation.')).toEqual(['We are at 2 of 3.']);
    expect(await ask('You are performing a CONTEXT CHECKPOINT COMPACTION. Go.')).toEqual([
      'We are at 2 of 3.',
    ]);
    expect(await ask('Begin.', [tools[0]])).toEqual([
      'The script calls bash or shell, which this request does not offer. Offered: read.',
    ]);
    expect(await ask('Begin.')).toEqual(['Part 3.', 'shell {"command":"cat part-3.txt"}']);
    expect(await ask('Begin.')).toEqual(['All 3 parts are read.']);
    await simulator.close();
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
