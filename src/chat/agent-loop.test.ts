import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import type { JsonObject } from '../conversation/json.ts';
import { memory } from '../memory/summarizer.ts';
import { memoryStore } from '../stores/memory.ts';
import { runTurn } from './agent-loop.ts';
import { ChatArchive } from './archive.ts';
import { Chat } from './chat.ts';
import { type Answer, type AskOptions, anthropicWire } from './providers/provider.ts';
import { openWorkspace } from './tools.ts';

type Ask = (body: JsonObject, options: AskOptions) => Promise<Answer>;

async function chatWith(
  ask: Ask,
  options: {
    readonly strategy?: string;
    readonly windowTokens?: number;
    readonly archive?: ChatArchive;
  } = {},
) {
  const said: string[] = [];
  const chat = new Chat({
    host: {
      out: (text) => void said.push(text),
      style: (_style, text) => text,
      columns: () => 80,
      isPlain: true,
      nearest: () => undefined,
      writeConversation: () => undefined,
      now: () => new Date(0),
    },
    provider: { name: 'scripted', wire: anthropicWire, ask },
    workspace: await openWorkspace(tmpdir()),
    model: 'scripted',
    windowTokens: options.windowTokens ?? 100_000,
    strategy: options.strategy ?? 'ladder',
    settings: {},
    summarizer: memory,
    logPath: undefined,
    archive: options.archive,
    sessionPath: 'nowhere',
    isSaved: false,
  });
  return { chat, said };
}

const text = (words: string): Answer => ({
  message: { role: 'assistant', content: [{ type: 'text', text: words }] },
  usage: undefined,
});
const call = (id: string, name = 'list_files'): Answer => ({
  message: { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { path: 'nowhere' } }] },
  usage: undefined,
});
const never = new AbortController().signal;

const tooLong = new RoundfoldError('upstream', 'refused', {
  cause: {
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      },
    },
  },
});

describe('runTurn', () => {
  it('asks, runs tools and asks again until there is an answer', async () => {
    const answers = [call('a'), call('b', 'no_such_tool'), text('done')];
    const lengths: number[] = [];
    const { chat } = await chatWith(async ({ messages }) => {
      lengths.push((messages as readonly unknown[]).length);
      return answers.shift()!;
    });

    expect(await runTurn(chat, 'look', never)).toBe('answered');
    expect(lengths).toEqual([1, 3, 5]);
    expect(errorsOf(chat)).toEqual([]);
  });

  it('compacts before a request and never inside one, in the middle of a turn too', async () => {
    let isAsking = false;
    let requests = 0;
    const sizes: number[] = [];
    const { chat, said } = await chatWith(
      async ({ messages }) => {
        isAsking = true;
        sizes.push((messages as readonly unknown[]).length);
        await Promise.resolve();
        isAsking = false;
        const answer = call(`c${++requests}`);
        const long = { type: 'text', text: `step ${requests} `.repeat(60) };
        const { content } = answer.message as { content: readonly unknown[] };
        return requests < 25
          ? { ...answer, message: { role: 'assistant', content: [long, ...content] } }
          : text('done');
      },
      { windowTokens: 4000 },
    );
    const accept = chat.dialogue.accept.bind(chat.dialogue);
    chat.dialogue.accept = (compacted) => {
      expect(isAsking).toBe(false);
      accept(compacted);
    };

    expect(await runTurn(chat, 'look around', never)).toBe('answered');
    const runs = said.filter((line) => line.startsWith('compacted:')).length;
    expect(runs).toBeGreaterThanOrEqual(1);
    // Row 69: not with every request.
    expect(runs).toBeLessThanOrEqual(8);
    expect(Math.max(...sizes)).toBeLessThan(50);
    expect(errorsOf(chat)).toEqual([]);
  });

  it('answers calls that were cancelled, so that the list stays legal', async () => {
    const stop = new AbortController();
    const { chat, said } = await chatWith(async () => {
      stop.abort();
      return call('a');
    });

    expect(await runTurn(chat, 'look', stop.signal)).toBe('cancelled');
    expect(JSON.stringify(chat.dialogue.messages.at(-1))).toContain('cancelled by the user');
    expect(said.join('')).toContain('what was said so far is kept');
    expect(errorsOf(chat)).toEqual([]);
  });

  it('compacts once and asks again when the provider says that it is too long', async () => {
    let requests = 0;
    const { chat } = await chatWith(
      async () => {
        if (++requests === 9) throw tooLong;
        return text('an answer of some length '.repeat(40));
      },
      { strategy: 'sliding-window' },
    );
    for (let turn = 0; turn < 9; turn++)
      expect(await runTurn(chat, `question ${turn}`, never)).toBe('answered');

    expect(chat.dialogue.messages.length).toBe(12);
    expect(requests).toBe(10);
  });

  it('asks no second time when what is too long cannot be made shorter', async () => {
    let requests = 0;
    const { chat, said } = await chatWith(async () => {
      requests++;
      throw tooLong;
    });

    expect(await runTurn(chat, 'hello', never)).toBe('failed');
    expect(requests).toBe(1);
    expect(said.join('')).toMatch(/not compacted: [\s\S]*refused/);
  });

  it('keeps no answer without a word, which providers would not take back', async () => {
    const { chat, said } = await chatWith(async () => text(' '));

    expect(await runTurn(chat, 'hello', never)).toBe('answered');
    expect(chat.dialogue.messages).toEqual([{ role: 'user', content: 'hello' }]);
    expect(said.join('')).toContain('the model has said nothing');
  });

  it('a store that fails costs the compaction, and neither the messages nor the turn', async () => {
    const store = { ...memoryStore(), restore: () => Promise.reject(new Error('disk full')) };
    const { chat, said } = await chatWith(async () => text('an answer of some length '.repeat(40)), {
      strategy: 'sliding-window',
      windowTokens: 3000,
      archive: new ChatArchive(store, 'c'),
    });
    for (let turn = 0; turn < 12; turn++)
      expect(await runTurn(chat, `question ${turn}`, never)).toBe('answered');

    expect(said.join('')).toContain('not compacted: what would leave cannot be kept');
    expect(chat.dialogue.messages.length).toBe(24);
  });

  it('keeps what was said when the provider fails', async () => {
    const { chat, said } = await chatWith(async (_body, { onText }) => {
      onText('half an ans');
      throw new RoundfoldError('upstream', 'it broke', { remedy: 'Try again.' });
    });

    expect(await runTurn(chat, 'hello', never)).toBe('failed');
    expect(chat.dialogue.messages).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'half an ans' }] },
    ]);
    expect(said.join('')).toContain('Try again.');
  });

  it('stops a model that only calls tools', async () => {
    let requests = 0;
    const { chat, said } = await chatWith(async () => call(`c${++requests}`));

    expect(await runTurn(chat, 'look', never)).toBe('failed');
    expect(said.join('')).toContain(`stopped after ${requests} requests`);
  });
});

function errorsOf(chat: Chat): readonly unknown[] {
  const { body, wire } = chat.dialogue;
  const violations = findContract(wire.format)?.check(body) ?? [];
  return violations.filter(({ severity }) => severity === 'error');
}
