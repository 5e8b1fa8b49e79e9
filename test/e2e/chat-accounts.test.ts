import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { savedMessages } from '../support/chat-file.ts';
import { chatOpener } from '../support/chat-terminal.ts';
import { runCli } from '../support/cli.ts';
import { type RecordingProvider, startRecordingProvider } from '../support/recording-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const openChat = chatOpener(folder);
const SUMMARY = '<summary>\n## Goal\n- look at the kiln\n</summary>';

let provider: RecordingProvider;
beforeAll(async () => {
  provider = await startRecordingProvider(({ tools, conversation }) => {
    const text = `Answer ${conversation.messages.length}: ${'the kiln is warm. '.repeat(40)}`;
    return { parts: [{ type: 'text', text: tools.length > 0 ? text : SUMMARY }] };
  });
});
afterAll(() => provider.close());

const MODEL = 'claude-sonnet-4-5';
const own = ['--provider', 'anthropic', '--model', MODEL];
const writer = ['--summarizer', 'anthropic', '--summarizer-model', 'claude-haiku-4-5'];
const openModelChat = (...args: readonly string[]) =>
  openChat([...own, ...args], {
    env: { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: provider.url },
  });

/** The numbers that /cost shows. */
function readCost(said: string) {
  const numbers = (pattern: RegExp) =>
    (pattern.exec(said) ?? []).slice(1).map((text) => Number(text.replaceAll(',', '')));
  const [requests = 0] = numbers(/^(\d+) requests?: /m);
  const [summaryTokens = 0] = numbers(/^summaries by a model: ([\d,]+) tokens in, [1-9][\d,]* out$/m);
  const [paid = Number.NaN] = numbers(/about \$([\d.]+);/);
  return { requests, summaryTokens, paid };
}

describe('/cost', () => {
  it('counts the summaries that were asked for by hand, those of a preview too, and the next day as well', async () => {
    const { chat, file } = await openModelChat(...writer);
    for (const turn of [1, 2, 3, 4]) await chat.enter(`look ${turn}`);
    const before = readCost(await chat.enter('/cost'));
    expect(before).toMatchObject({ requests: 4, summaryTokens: 0 });
    expect(before.paid).toBeGreaterThan(0);

    await chat.enter('/preview summarize');
    const tried = readCost(await chat.enter('/cost'));
    await chat.enter('/compact summarize');
    const after = readCost(await chat.enter('/cost'));
    expect(tried.summaryTokens).toBeGreaterThan(0);
    expect(after).toMatchObject({ requests: 4, summaryTokens: 2 * tried.summaryTokens });
    expect(tried.paid).toBeGreaterThan(before.paid);
    expect(after.paid).toBeGreaterThan(tried.paid);

    chat.type('/quit\r');
    expect(await chat.ended).toBe(0);
    const resumed = await openModelChat('--session', file);
    expect(readCost(await resumed.chat.enter('/cost'))).toEqual(after);
  });
});

describe('a pause', () => {
  const HOUR = 3_600_000;

  /** A saved chat whose newest request was sent so long ago; too small to be compacted, too large to be cheap. */
  function saved(name: string, agoMs: number): string {
    const messages = Array.from({ length: 20 }, (_one, turn) => [
      { role: 'user', content: `question ${turn}` },
      {
        role: 'assistant',
        content: [{ type: 'text', text: `answer ${turn}: ${'of the kiln '.repeat(58)}` }],
      },
    ]).flat();
    const accounts = { askedAt: Date.now() - agoMs };
    const header = {
      type: 'roundfold-chat',
      version: 1,
      format: 'anthropic-messages',
      model: MODEL,
      pins: [],
    };
    const lines = [{ ...header, accounts }, ...messages];
    return folder.write(name, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  it('after which the cache has expired is the time to compact; before, it is too early', async () => {
    const said: Record<string, string> = {};
    for (const [name, agoMs] of [
      ['early', 0],
      ['late', HOUR],
    ] as const) {
      const { chat } = await openModelChat('--window', '12000', '--session', saved(`${name}.jsonl`, agoMs));
      said[name] = await chat.enter('go on');
    }

    expect(said['early']).not.toContain('compacted: ');
    expect(said['late']).toMatch(/^compacted: 41 → \d+ messages/m);
    expect(said['late']).toContain('the kiln is warm');
  });
});

describe('a saved chat', () => {
  it('is read by inspect and check without a complaint, in its own format, with what can be undone in it', async () => {
    const { chat, file } = await openChat();
    await chat.enter('list files');
    for (const turn of [1, 2, 3, 4, 5]) await chat.enter(`note ${turn}`);
    await chat.enter('/compact sliding');
    await chat.enter('/compact summarize');
    await chat.enter('/undo');
    const inspected = await runCli(['inspect', file]);
    const checked = await runCli(['check', file]);

    expect(inspected).toMatchObject({ code: 0, stderr: '' });
    expect(inspected.stdout).toContain('anthropic-messages');
    expect(inspected.stdout).toContain(`${savedMessages(file).length} messages`);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toMatch(/^legal .*anthropic-messages$/m);
  });

  it('replaces no file but the copies that this chat has made', async () => {
    const notes = folder.write('notes.txt', 'do not lose me\n');
    const copy = join(folder.path, 'copy.jsonl');
    const { chat } = await openChat();
    await chat.enter('hello');

    expect(await chat.enter(`/save ${notes}`)).toContain('nothing was written');
    expect(readFileSync(notes, 'utf8')).toBe('do not lose me\n');
    const other = await openChat();
    await other.chat.enter('another chat');
    expect(await chat.enter(`/save ${other.file}`)).toContain('nothing was written');
    expect(savedMessages(other.file)[0]).toContain('another chat');
    for (const _time of [1, 2]) expect(await chat.enter(`/save ${copy}`)).toContain(`saved to ${copy}`);
    expect(savedMessages(copy).length).toBe(2);
  });
});

describe('--log', () => {
  it('two strategies on the same chat give two files that can be compared line by line', async () => {
    const { chat, file } = await openChat();
    for (const turn of [1, 2, 3, 4, 5, 6]) await chat.enter(`note ${turn}`);
    const logs = ['sliding', 'summarize', 'none'].map(async (word) => {
      const log = join(folder.path, `${word}.log`);
      const other = await openChat(['--load', file, '--log', log]);
      await other.chat.enter(`/compact ${word}`);
      return JSON.parse(readFileSync(log, 'utf8')) as LoggedRun;
    });
    const [sliding, summarize, none] = await Promise.all(logs);

    expect(sliding).toMatchObject({ strategy: 'sliding-window', status: 'compacted', messagesAfter: 7 });
    // So short a chat has no half to aim at besides what has to stay: what can be had is done all the same.
    expect(summarize).toMatchObject({ strategy: 'summarize', status: 'insufficient', messagesAfter: 6 });
    expect(none).toMatchObject({ strategy: 'none', status: 'skipped', messagesAfter: 12, diff: [] });
    // The same before, message by message; what differs is what became of each.
    const befores = (run: LoggedRun | undefined) => run?.diff.flatMap(({ before }) => before ?? []);
    expect(befores(sliding)).toEqual(befores(summarize));
    expect(befores(sliding)?.length).toBe(12);
    expect(sliding?.diff.some(({ change }) => change === 'new')).toBe(false);
    expect(summarize?.diff.filter(({ change }) => change === 'new').length).toBe(1);
  });

  it('that cannot be written is told', async () => {
    const { chat } = await openChat(['--log', join(folder.path, 'no', 'such', 'folder.log')]);
    await chat.enter('hello');

    expect(await chat.enter('/compact sliding')).toContain('cannot be written; nothing is logged');
  });
});

interface LoggedRun {
  readonly diff: readonly { readonly change: string; readonly before?: unknown }[];
}
