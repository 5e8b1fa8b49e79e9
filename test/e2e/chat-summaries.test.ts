import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultScript, type Script } from '../../src/simulator/index.ts';
import { chatOpener } from '../support/chat-terminal.ts';
import {
  type RecordingProvider,
  type SeenRequest,
  startRecordingProvider,
} from '../support/recording-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { isWaiting } from '../support/terminal-session.ts';

const folder = temporaryFolder();
const work = join(folder.path, 'work');
mkdirSync(work);
folder.write('work/notes.txt', 'the kiln runs at port 8123\n');
const openChat = chatOpener(folder);

const GOOD = '<summary>\n## Goal\n- look around in the folder with the kiln\n</summary>';

/** What the model answers when it is asked for a summary, which is a request without tools. */
let summary = GOOD;
let script: Script = defaultScript;
let provider: RecordingProvider;

beforeAll(async () => {
  provider = await startRecordingProvider((turn) =>
    turn.tools.length > 0 ? script(turn) : { parts: [{ type: 'text', text: summary }] },
  );
});
afterAll(() => provider.close());
beforeEach(() => {
  provider.forget();
  summary = GOOD;
  script = defaultScript;
});

const isSummary = ({ body }: SeenRequest) => body.model.includes('haiku');
const summaries = () => provider.requests.filter(isSummary);
const asked = () => provider.requests.filter((request) => !isSummary(request));

/** A chat at the door of the provider, where a model writes the summaries. */
function openModelChat(...args: readonly string[]) {
  const own = ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5'];
  const writer = ['--summarizer', 'anthropic', '--summarizer-model', 'claude-haiku-4-5'];
  const env = { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: provider.url };
  return openChat([...own, ...writer, ...args], { cwd: work, env });
}

/** A chat of three tasks with tools. */
async function openWorkedChat(...args: readonly string[]) {
  const opened = await openModelChat(...args);
  for (const entry of ['look around', 'and again', 'once more'])
    expect(await opened.chat.enter(entry)).toContain('Done after');
  return { ...opened, before: opened.messages() };
}

describe('a summary by a model', () => {
  it('is asked for once, without tools, with calls, results and instructions', async () => {
    const { chat, messages, before } = await openWorkedChat();
    const said = await chat.enter('/compact summarize instructions="mind the kiln" thresholdTokens=0');
    const [request, ...others] = summaries();

    expect(said).toMatch(/^compacted: 24 → 7 messages, [\d,]+ → [\d,]+ tokens \(summarize\)$/m);
    expect(others).toEqual([]);
    expect(request?.body).not.toHaveProperty('tools');
    const prompt = JSON.stringify(request?.body);
    for (const words of ['\\nmind the kiln\\n', 'list_files', 'notes.txt', 'and again'])
      expect(prompt).toContain(words);
    // The instructions of the agent itself are none for whoever summarises.
    expect(prompt).not.toContain('You help in a terminal');
    expect(messages()[0]).toBe(before[0]);
    expect(messages()[1]).toMatch(/^\{"role":"user".*\[earlier conversation summary\]/);
    expect(messages()[1]).toContain('look around in the folder with the kiln');
    // Four messages, and what belongs to the first of them; the newest question is quoted in front of the summary.
    expect(messages()[1]).toMatch(/\[newest request of the user before the messages below\]\\nonce more"/);
    expect(messages().slice(2)).toEqual(before.slice(-5));
  });

  it.each([
    {
      name: 'an empty summary',
      answer: ' \n ',
      words: /wrote no summary \(the model answered with nothing\); it was written without a model$/m,
    },
    {
      name: 'a summary that is a refusal',
      answer: "I'm sorry, but I can't help with that.",
      words: /wrote no summary \(.+\); it was written without a model$/m,
    },
  ])('$name is told, and replaced in the same run', async ({ answer, words }) => {
    const { chat, messages, before } = await openWorkedChat();
    summary = answer;

    const said = await chat.enter('/compact summarize');
    expect(said).toMatch(words);
    expect(said).toMatch(/^compacted: 24 → /m);
    expect(messages()[0]).toBe(before[0]);
    expect(messages()[1]).toContain('Memory of');
    expect(messages()[1]).not.toContain("can't help");
    // The chat goes on from there, and what the summary stands for comes back.
    expect(await chat.enter('go on')).toContain('Done after');
    await chat.enter('/undo');
    expect(messages().slice(0, before.length)).toEqual(before);
  });

  it('a run that is cancelled while the model writes leaves every message as it was', async () => {
    const { chat, messages, before } = await openWorkedChat();
    const door = provider.hold('haiku');
    chat.type('/compact summarize\r');
    await door.arrived;
    chat.type('\u0003');
    await chat.until('the end of the run', (text) => /^not compacted: /m.test(text) && isWaiting(text));
    door.release();

    expect(messages()).toEqual(before);
    expect(await chat.enter('/compact summarize')).toMatch(/^compacted: /m);
  });
});

describe('compactions and requests', () => {
  it('one run at a time; what is entered meanwhile waits, and finds nothing left to do', async () => {
    const { chat, messages } = await openWorkedChat();
    const door = provider.hold('haiku');
    chat.type('/compact summarize\r');
    await door.arrived;
    chat.type('/compact summarize\rgo on\r');
    door.release();
    await chat.until('the answer', (text) => text.split('Done after').length === 5 && isWaiting(text));

    expect(chat.text()).toMatch(/^compacted: [\s\S]*^not compacted: there is nothing old enough/m);
    expect(summaries().length).toBe(1);
    expect(provider.mostAtOnce).toBe(1);
    expect(messages().filter((message) => message.includes('[earlier conversation summary]')).length).toBe(1);
  });

  it('below the threshold no summary is asked for, and every request begins with the one before', async () => {
    // A strategy that would always find something to summarise, if only it were asked to.
    const eager = ['--set', 'keepRounds=1', '--set', 'minGain=0'];
    const { chat, messages } = await openModelChat('--strategy', 'summarize', ...eager);
    for (let turn = 1; turn <= 15; turn++) {
      const before = messages();
      await chat.enter(`look ${turn}`);
      expect(messages().slice(0, before.length)).toEqual(before);
    }
    const bodies = asked().map(({ body }) => body);

    expect(summaries()).toEqual([]);
    expect(chat.text()).not.toMatch(/compacted: /);
    expect(bodies.length).toBeGreaterThan(30);
    for (const [index, body] of bodies.entries()) {
      const former = bodies[index - 1] ?? { ...body, messages: [] };
      const prefix = JSON.stringify(former.messages).slice(0, -1);
      expect(JSON.stringify(body.messages).startsWith(prefix)).toBe(true);
      expect(JSON.stringify([body.system, body.tools])).toBe(JSON.stringify([former.system, former.tools]));
    }
    // The provider is told to cache what stays the same.
    expect(bodies[0]?.cache_control).toEqual({ type: 'ephemeral' });
    expect(messages().length).toBe((bodies.at(-1)?.messages.length ?? 0) + 1);
  });

  it('forty rounds after one question take three summaries at most, each between two requests', async () => {
    let rounds = 0;
    script = ({ tools }) => {
      const [tool] = tools;
      const words = { type: 'text' as const, text: `Round ${++rounds}: ${'more of the kiln. '.repeat(30)}` };
      if (rounds > 40 || tool === undefined)
        return { parts: [{ type: 'text', text: 'Done with the kiln.' }] };
      return { parts: [words, { type: 'tool-call', name: tool.name, input: { path: '.' } }] };
    };
    const { chat, messages } = await openModelChat('--window', '12000', '--strategy', 'summarize');
    const first = await chat.enter('look at the kiln from all sides');
    expect(first).toContain('stopped after 30 requests');
    expect(await chat.enter('go on')).toContain('Done with the kiln.');
    const runs = chat.text().match(/^compacted: .*$/gm) ?? [];

    expect(asked().length).toBe(41);
    expect(summaries().length).toBeGreaterThanOrEqual(1);
    expect(summaries().length).toBeLessThanOrEqual(3);
    expect(runs.length).toBe(summaries().length);
    expect(provider.mostAtOnce).toBe(1);
    expect(provider.requests.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
    expect(messages()[0]).toContain('look at the kiln from all sides');
    // Never of a summary alone: each has new rounds to read.
    for (const { body } of summaries()) expect(JSON.stringify(body)).toMatch(/Round \d+: /);
  });
});
