import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { strategies } from '../../src/index.ts';
import { savedMessages } from '../support/chat-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTerminal, type TerminalSession } from '../support/terminal-session.ts';

const folder = temporaryFolder();
const open: TerminalSession[] = [];
let count = 0;

interface OpenChat {
  readonly chat: TerminalSession;
  readonly file: string;
  /** The saved messages, one JSON text each. */
  messages(): readonly string[];
}

async function openChat(
  args: readonly string[] = [],
  options: { readonly env?: Readonly<Record<string, string>>; readonly columns?: number } = {},
): Promise<OpenChat> {
  const file = join(folder.path, `chat-${++count}.jsonl`);
  const chat = openTerminal(['chat', '--session', file, ...args], { cwd: folder.path, ...options });
  open.push(chat);
  await chat.until('the first prompt', (text) => text.endsWith('\n>'));
  return { chat, file, messages: () => savedMessages(file) };
}

async function talk(chat: TerminalSession, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++)
    await chat.enter(`note ${turn}: kiln ${turn} runs at port ${8000 + turn}`);
}

afterEach(() => {
  for (const chat of open.splice(0)) chat.end();
});

describe('compactions by hand, in a chat of 15 turns', () => {
  it('rows 46, 47, 48, 49, 53: every strategy is a word behind /compact, and /undo takes each back', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    await talk(chat, 15);
    const before = messages();
    expect(before.length).toBe(30);
    const compacted: string[] = [];
    for (const { name } of strategies) {
      const said = await chat.enter(`/compact ${name}${name === 'token-budget' ? ' budget=1500' : ''}`);
      expect(said).toMatch(/^(?:not )?compacted: /m);
      if (/^compacted/m.test(said)) {
        compacted.push(name);
        expect(messages()).not.toEqual(before);
        await chat.enter('/undo');
      }
      expect(messages()).toEqual(before);
    }
    expect(compacted).toEqual(
      expect.arrayContaining(['summarize', 'token-budget', 'sliding-window', 'collapse']),
    );
    expect(compacted).not.toContain('none');
  });

  it('row 64: /compact sliding keeps 6 messages and the task, and summarize can follow at once', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    await talk(chat, 15);
    const before = messages();
    await chat.enter('/verbose on');

    const sliding = await chat.enter('/compact sliding');
    expect(sliding).toContain('before (30) and after (7)');
    expect(sliding).toMatch(/compacted: 30 → 7 messages, [\d,]+ → [\d,]+ tokens \(sliding-window\)/);
    expect(messages()).toEqual([before[0], ...before.slice(-6)]);
    const both = await chat.enter('/compact summarize');
    expect(both).toMatch(/^(?:compacted: 7 → 6 messages|not compacted: )/m);
    expect(messages().slice(-4)).toEqual(before.slice(-4));
  });

  it('row 65: /compact summarize needs no pressure, keeps 4 messages and the task', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    await talk(chat, 15);
    const before = messages();

    expect(await chat.enter('/compact Summarize')).toContain('compacted: 30 → 6 messages');
    expect([messages()[0], ...messages().slice(-4)]).toEqual([before[0], ...before.slice(-4)]);
    // Row 55: the words that a summary begins with.
    expect(messages()[1]).toMatch(/^\{"role":"user".*\[earlier conversation summary\]/);
  });

  it('row 63: /compact runs the strategy that is configured', async () => {
    const { chat, messages } = await openChat([
      '--window',
      '100000',
      '--strategy',
      'sliding-window',
      '--set',
      'keepLast=4',
    ]);
    await talk(chat, 5);
    const before = messages();

    expect(await chat.enter('/compact')).toContain('compacted: 10 → 5 messages');
    expect(messages()).toEqual([before[0], ...before.slice(-4)]);
  });

  it('row 66: /compact none changes nothing and says so', async () => {
    const { chat, messages } = await openChat();
    await talk(chat, 5);
    const before = messages();

    expect(await chat.enter('/compact NONE')).toContain('not compacted: compaction is switched off');
    expect(messages()).toEqual(before);
  });

  it('row 67: /verbose takes yes and no, and switches over without a word', async () => {
    const { chat } = await openChat(['--window', '100000']);
    await talk(chat, 8);
    for (const [word, state] of [
      ['yes', 'on'],
      ['false', 'off'],
      ['true', 'on'],
      ['no', 'off'],
      ['', 'on'],
      ['', 'off'],
    ])
      expect(await chat.enter(`/verbose ${word}`)).toContain(`verbose is ${state}`);
    expect(await chat.enter('/verbose loud')).toContain('nothing was changed');

    expect(await chat.enter('/compact sliding')).not.toContain('before (');
    await chat.enter('/undo');
    await chat.enter('/verbose');
    expect(await chat.enter('/compact sliding')).toContain('before (16) and after (7)');
  });

  it('rows 50, 68: --log keeps a record of every compaction, by which strategies can be compared', async () => {
    const log = join(folder.path, 'compactions.jsonl');
    const { chat } = await openChat(['--window', '100000', '--log', log]);
    await talk(chat, 8);
    await chat.enter('/compact sliding');
    await chat.enter('/undo');
    await chat.enter('/preview snip');
    await chat.enter('/compact summarize');
    const records = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byHand = records.filter(({ trigger }) => trigger !== 'auto');

    expect(byHand).toMatchObject([
      { strategy: 'sliding-window', status: 'compacted', messagesBefore: 16 },
      { strategy: 'summarize', status: 'compacted', messagesBefore: 16 },
    ]);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });

  it('row 69: a summary is not summarised again', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    await talk(chat, 8);
    await chat.enter('/compact summarize');
    const once = messages();

    expect(await chat.enter('/compact summarize')).toContain('not compacted: there is nothing old enough');
    expect(messages()).toEqual(once);
  });
});

describe('compactions by themselves', () => {
  it('rows 61, 62, 69: a small window compacts when it is due, seldom, and keeps the task', async () => {
    const { chat, messages } = await openChat(['--window', '4000']);
    await talk(chat, 15);
    const text = chat.text();
    const runs = text.match(/^compacted: .*$/gm) ?? [];

    expect(runs.length).toBeGreaterThanOrEqual(1);
    expect(runs.length).toBeLessThanOrEqual(5);
    expect(messages()[0]).toContain('note 1: kiln 1');
    const gauges = text.match(
      /context [\d,]+ of 4,000 \(\d+ %\) · (?:ok|warning|critical) · compacts at 2,000/g,
    );
    expect(gauges?.length).toBe(15);
  });
});

describe('what was done can be undone', () => {
  it('gives back every message, what was said since stays, and /redo does it again', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    await talk(chat, 6);
    const before = messages();
    await chat.enter('/compact sliding');
    const after = messages();
    await chat.enter('and one more');
    const said = messages().slice(after.length);

    await chat.enter('/undo');
    expect(messages()).toEqual([...before, ...said]);
    await chat.enter('/redo');
    expect(messages()).toEqual([...after, ...said]);
    await chat.enter('/undo');
    expect(await chat.enter('/undo')).toContain('nothing to be undone');
    expect(messages()).toEqual([...before, ...said]);
  });
});

describe('commands', () => {
  const wrong: readonly (readonly [entry: string, words: string])[] = [
    ['/compcat', 'Did you mean /compact?'],
    ['/frobnicate', '/help lists what there is'],
    ['/compact slidng', 'Did you mean sliding?'],
    ['/compact sliding keepLast=none', 'nothing was changed'],
    ['/compact sliding keepLats=3', 'nothing was changed'],
    ['/compact sliding 3', 'nothing was changed'],
    ['/undo twice', 'nothing was changed'],
    ['/verbose maybe', 'nothing was changed'],
    ['/load', 'nothing was changed'],
    ['/load nowhere.json', 'nowhere.json'],
    ['/preview nonsense', 'nothing was changed'],
    ['/recall kiln', 'Start the chat with --store'],
    ['/model two words', 'nothing was changed'],
  ];

  it('that are unknown, or have an unknown argument, say what is wrong and change nothing', async () => {
    const { chat, messages } = await openChat();
    await talk(chat, 2);
    const before = messages();
    for (const [entry, words] of wrong) expect(await chat.enter(entry)).toContain(words);
    await chat.enter('go on');

    expect(messages().slice(0, -2)).toEqual(before);
  });

  it('/help lists all, a tab completes, /preview and /context change nothing', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    await talk(chat, 6);
    const before = messages();

    const help = await chat.enter('/help');
    for (const name of [
      'compact',
      'verbose',
      'context',
      'preview',
      'undo',
      'redo',
      'pin',
      'recall',
      'model',
      'save',
      'load',
      'export',
      'cost',
      'quit',
    ])
      expect(help).toContain(`/${name}`);
    expect(await chat.enter('/cont\t')).toContain('12 messages in');
    expect(await chat.enter('/context')).toMatch(/assistant +█+.* %/);
    expect(await chat.enter('/preview sliding')).toMatch(/^- +1 +assistant/m);
    expect(messages()).toEqual(before);
  });
});
