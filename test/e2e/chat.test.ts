import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { strategies } from '../../src/compaction/strategies/index.ts';
import { chatOpener } from '../support/chat-terminal.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { TerminalSession } from '../support/terminal-session.ts';

const folder = temporaryFolder();
const openChat = chatOpener(folder);

const noteOf = (turn: number) => `note ${turn}: kiln ${turn} runs at port ${8000 + turn}`;

async function talk(chat: TerminalSession, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) await chat.enter(noteOf(turn));
}

/** A chat in which so many turns have been talked already. */
async function openTalked(turns: number, args: readonly string[] = []) {
  const path = join(folder.path, `talked-${turns}.txt`);
  if (!existsSync(path)) {
    const words = Array.from({ length: turns }, (_one, index) => `${noteOf(index + 1)}\n`).join('');
    const { code } = await runCli(['chat', '--session', path], { stdin: words });
    expect(code).toBe(0);
  }
  const opened = await openChat(['--load', path, ...args]);
  await opened.chat.enter('/save');
  expect(opened.messages().length).toBe(2 * turns);
  return opened;
}

describe('compactions by hand, in a chat of 15 turns', () => {
  it('every strategy is a word behind /compact, and /undo takes each back', async () => {
    const { chat, messages } = await openTalked(15, ['--window', '100000']);
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

  it('fifteen turns, sliding and summarize back to back with /verbose on, and all of it undone', async () => {
    const { chat, messages } = await openChat(['--window', '100000']);
    let full = 0;
    for (let turn = 1; turn <= 15; turn++) {
      // The answer that is summarised later is a long one: a short one cannot be said in fewer words.
      const length = turn === 13 ? ', at length' : '';
      const entry = `note ${turn}: kiln ${turn} runs at port ${8000 + turn}${length}`;
      const said = await chat.enter(entry);
      const lines = chat.visible().filter((line) => line !== '');
      const [, tokens = ''] =
        /context ([\d,]+) of 100,000 \(\d+ %\) · ok · compacts at [\d,]+$/.exec(
          lines.at(-2)?.trimEnd() ?? '',
        ) ?? [];

      expect(said).toContain(`I have noted: ${entry}\n`);
      expect(lines.at(-1)?.trimEnd()).toBe('>');
      expect(Number(tokens.replace(',', ''))).toBeGreaterThan(full);
      full = Number(tokens.replace(',', ''));
      expect(messages().length).toBe(2 * turn);
    }
    const before = messages();
    expect(await chat.enter('/verbose on')).toContain('verbose is on');

    const sliding = await chat.enter('/compact sliding');
    expect(sliding).toContain('before (30) and after (7)');
    expect(sliding).toMatch(/^- +… +[\d,]+ +… 17 more messages$/m);
    expect(sliding).toMatch(/^compacted: 30 → 7 messages, [\d,]+ → [\d,]+ tokens \(sliding-window\)$/m);
    const slid = messages();
    expect(slid).toEqual([before[0], ...before.slice(-6)]);

    const summarised = await chat.enter('/compact summarize');
    expect(summarised).toContain('before (7) and after (6)');
    expect(summarised).toMatch(
      /^- +1 +user .*\n- +2 +assistant .*\n\+ +user .*earlier conversation summary/m,
    );
    expect(summarised).toMatch(/^compacted: 7 → 6 messages, [\d,]+ → [\d,]+ tokens \(summarize\)$/m);
    const both = messages();
    expect([both.length, both[0], ...both.slice(-4)]).toEqual([6, before[0], ...before.slice(-4)]);
    expect(both[1]).toContain('kiln 13 runs at port 8013');

    const again = await chat.enter('/compact summarize');
    expect(again).toContain('\nnot compacted: there is nothing old enough to summarise\n');
    expect(messages()).toEqual(both);

    for (const [command, list] of [
      ['/undo', slid],
      ['/undo', before],
      ['/redo', slid],
      ['/redo', both],
      ['/undo', slid],
      ['/undo', before],
    ] as const) {
      expect(await chat.enter(command)).toContain(`: ${list.length} messages`);
      expect(messages()).toEqual(list);
    }
    expect(await chat.enter('/undo')).toContain('nothing to be undone');
  });

  it('none gives the very same list, whatever else is asked of it', async () => {
    const { chat, file, messages } = await openChat(['--window', '1000', '--strategy', 'none']);
    await talk(chat, 8);
    expect(await chat.enter('/compact')).toContain('not compacted: compaction is switched off');

    expect(chat.text()).not.toMatch(/^compacted: /m);
    expect(messages().length).toBe(16);
    expect(readFileSync(file, 'utf8')).not.toContain('roundfold-compaction');
  });

  it('sliding-window keeps so many, and the task', async () => {
    const { chat, messages } = await openTalked(6);
    const before = messages();
    for (const keepLast of [8, 5, 2]) {
      expect(await chat.enter(`/compact sliding-window keepLast=${keepLast}`)).toContain(
        `\ncompacted: 12 → ${keepLast + 1} messages`,
      );
      const kept = messages();
      await chat.enter('/undo');
      expect(kept.filter((message) => before.includes(message))).toEqual(kept);
      expect([kept[0], ...kept.slice(-keepLast)]).toEqual([before[0], ...before.slice(-keepLast)]);
    }
  });

  it('summarize acts from its threshold on, by itself, and at once when it is asked for', async () => {
    const own = ['--strategy', 'summarize', '--set', 'thresholdMessages=24', '--set', 'minGain=0'];
    const { chat } = await openChat(['--window', '100000', ...own]);
    await talk(chat, 10);
    expect(chat.text()).not.toMatch(/^compacted: /m);

    expect(await chat.enter('/compact summarize thresholdTokens=0')).toMatch(/^compacted: 20 → 6 messages/m);
    await chat.enter('/undo');
    expect(await chat.enter('/compact summarize keepRounds=3')).toMatch(/^compacted: 20 → 8 messages/m);
    await chat.enter('/undo');
    await talk(chat, 3);
    expect(chat.text()).toMatch(/^compacted: 25 → \d messages/m);
  });

  it('token-budget stays within so many tokens, and within so many bytes', async () => {
    const { chat, messages } = await openTalked(12);
    const [, tokens = ''] =
      / → ([\d,]+) tokens/.exec(await chat.enter('/compact token-budget budget=800')) ?? [];
    expect(Number(tokens.replace(',', ''))).toBeLessThanOrEqual(800);
    expect(Number(tokens.replace(',', ''))).toBeGreaterThan(500);
    await chat.enter('/undo');

    await chat.enter('/compact token-budget budget=3000 unit=bytes');
    const bytes = messages().reduce((sum, message) => sum + Buffer.byteLength(message), 0);
    expect(bytes).toBeLessThanOrEqual(3000);
    expect(bytes).toBeGreaterThan(1500);
  });

  it('/compact summarize needs no pressure, keeps 4 messages and the task', async () => {
    const { chat, messages } = await openTalked(15, ['--window', '100000']);
    const before = messages();

    expect(await chat.enter('/compact Summarize')).toContain('compacted: 30 → 6 messages');
    expect([messages()[0], ...messages().slice(-4)]).toEqual([before[0], ...before.slice(-4)]);
    expect(messages()[1]).toMatch(/^\{"role":"user".*\[earlier conversation summary\]/);
  });

  it('/compact runs the strategy that is configured', async () => {
    const { chat, messages } = await openTalked(6, [
      '--window',
      '100000',
      '--strategy',
      'sliding-window',
      '--set',
      'keepLast=4',
    ]);
    const before = messages();

    expect(await chat.enter('/compact')).toContain('compacted: 12 → 5 messages');
    expect(messages()).toEqual([before[0], ...before.slice(-4)]);
  });

  it('/compact none changes nothing and says so', async () => {
    const { chat, messages } = await openTalked(6);
    const before = messages();

    expect(await chat.enter('/compact NONE')).toContain('not compacted: compaction is switched off');
    expect(messages()).toEqual(before);
  });

  it('/verbose takes yes and no, and switches over without a word', async () => {
    const { chat } = await openTalked(8);
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

  it('--log keeps a record of every compaction, by which strategies can be compared', async () => {
    const log = join(folder.path, 'compactions.jsonl');
    const { chat } = await openChat(['--window', '100000', '--log', log]);
    await talk(chat, 20);
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
      { strategy: 'sliding-window', status: 'compacted', messagesBefore: 40 },
      { strategy: 'summarize', status: 'compacted', messagesBefore: 40 },
    ]);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });

  it('a summary is not summarised again', async () => {
    const { chat, messages } = await openTalked(8);
    await chat.enter('/compact summarize');
    const once = messages();

    expect(await chat.enter('/compact summarize')).toContain('not compacted: there is nothing old enough');
    expect(messages()).toEqual(once);
  });
});

describe('compactions by themselves', () => {
  it('a small window compacts when it is due, seldom, and keeps the task', async () => {
    const { chat, messages } = await openChat(['--window', '3000']);
    await chat.enter('/verbose on');
    await talk(chat, 15);
    const text = chat.text();
    const runs = text.match(/^compacted: .*$/gm) ?? [];

    expect(runs.length).toBeGreaterThanOrEqual(1);
    expect(runs.length).toBeLessThanOrEqual(5);
    expect(text.match(/^before \(\d+\) and after \(\d+\)$/gm)?.length).toBe(runs.length);
    expect(messages()[0]).toContain('note 1: kiln 1');
    const gauges = text.match(
      /context [\d,]+ of 3,000 \(\d+ %\) · (?:ok|warning|critical) · compacts at 1,800/g,
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
    ['/compact sliding 3', 'key="several words"'],
    ['/compact summarize instructions="no end', 'not compacted'],
    ['/compact summarize instructions=two words', 'nothing was changed'],
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
    const { chat, messages } = await openTalked(6);
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
