import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { savedMessages } from '../support/chat-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  isWaiting,
  openTerminal,
  type SessionOptions,
  type TerminalSession,
} from '../support/terminal-session.ts';

const folder = temporaryFolder();
const open: TerminalSession[] = [];
let count = 0;

async function openChat(options: Partial<SessionOptions> = {}) {
  const file = join(folder.path, `input-${++count}.jsonl`);
  const chat = openTerminal(['chat', '--session', file], { cwd: folder.path, ...options });
  open.push(chat);
  await chat.until('the first prompt', (text) => text.endsWith('\n>'));
  const contents = () =>
    savedMessages(file).map((line) => (JSON.parse(line) as { readonly content: unknown }).content);
  return { chat, contents };
}

afterEach(() => {
  for (const chat of open.splice(0)) chat.end();
});

const UP = '\u001b[A';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;

describe('entries on a terminal', () => {
  it('a paste of several lines is one entry', async () => {
    const { chat, contents } = await openChat();
    chat.type(paste('first line\rsecond line\nthird /quit\r\n'));
    await chat.until('the paste', (text) => text.includes('third /quit'));
    expect(contents()).toEqual([]);
    await chat.enter(' and the end');

    expect(contents()[0]).toBe('first line\nsecond line\nthird /quit\n and the end');
    expect(contents().length).toBe(2);
  });

  it('keeps a history, and what was written before looking into it', async () => {
    const { chat, contents } = await openChat();
    await chat.enter('one');
    await chat.enter('two');
    await chat.enter(`${UP}${UP} again`);
    chat.type(`draft${UP}\u001b[B`);
    await chat.until('the draft', (text) => text.endsWith('> draft'));

    expect(contents()[4]).toBe('one again');
  });

  it('edits: words, lines, wide characters and pictures', async () => {
    const { chat, contents } = await openChat();
    await chat.enter('bad word\u0017\u0017naïve 漢字 🙂x\u007f\u0001> \u0005 end');

    expect(contents()[0]).toBe('> naïve 漢字 🙂 end');
  });

  it('keeps what is typed while a turn runs', async () => {
    const { chat, contents } = await openChat();
    chat.type('first\rsecond\r');
    await chat.until('both answers', (text) => text.split('compacts at').length === 3 && isWaiting(text));

    expect([contents()[0], contents()[2]]).toEqual(['first', 'second']);
  });
});

describe('Ctrl-C and Ctrl-D', () => {
  it('cancels the running turn in mid-stream and loses nothing', async () => {
    const { chat, contents } = await openChat();
    await chat.enter('hello');
    chat.type('tell me of kilns at length\r');
    await chat.until('the stream', (text) => text.includes('Step 22'));
    chat.type(CTRL_C);
    await chat.until(
      'the cancellation',
      (text) => text.includes('cancelled; what was said') && isWaiting(text),
    );

    expect(contents().length).toBe(4);
    expect(contents()[2]).toBe('tell me of kilns at length');
    expect(JSON.stringify(contents()[3])).toContain('Step 22');
    expect(JSON.stringify(contents()[3])).not.toContain('number 120');
    await chat.enter('go on');
    expect(contents().length).toBe(6);
  });

  it('cancels a turn that has hardly begun', async () => {
    const { chat, contents } = await openChat();
    chat.type(`tell me of kilns at length\r${CTRL_C}`);
    await chat.until(
      'the cancellation',
      (text) => text.includes('cancelled; what was said') && isWaiting(text),
    );

    expect(contents()[0]).toBe('tell me of kilns at length');
    expect(JSON.stringify(contents())).not.toContain('number 120');
  });

  it('at an empty prompt says how to quit; an entry that was not sent is in the history', async () => {
    const { chat, contents } = await openChat();
    chat.type(`half an entry${CTRL_C}`);
    await chat.until('an empty prompt', isWaiting);
    chat.type(CTRL_C);
    await chat.until('how to quit', (text) => text.includes('Ctrl-D or /quit') && isWaiting(text));
    await chat.enter(UP);
    expect(contents()[0]).toBe('half an entry');

    chat.type(CTRL_D);
    expect(await chat.ended).toBe(0);
    expect(chat.raw()).toContain('\u001b[?2004l');
  });

  it('/quit ends with 0', async () => {
    const { chat } = await openChat();
    chat.type('/quit\r');

    expect(await chat.ended).toBe(0);
  });
});

describe('screens', () => {
  it('draws an entry again when the screen changes its size, and leaves nothing of the old one', async () => {
    const { chat, contents } = await openChat({ columns: 60, rows: 20 });
    const entry = 'a rather long entry that does not fit into a narrow window at once';
    chat.type(entry);
    await chat.until('the entry', (text) => text.includes('at once'));
    for (const columns of [30, 90, 45]) {
      chat.resize(columns, 20);
      await chat.until(`the entry in ${columns} columns`, () => {
        const text = chat.visible().join('').replaceAll(/\s+/g, '');
        return text.endsWith(`>${entry.replaceAll(' ', '')}`) && text.split('arather').length === 2;
      });
    }
    await chat.enter('!');

    expect(contents()[0]).toBe(`${entry}!`);
  });

  it('a narrow screen has a gauge in one line', async () => {
    const { chat } = await openChat({ columns: 60 });
    await chat.enter('hello');

    expect(chat.text()).toMatch(/^context [\d,]+ of 32,000 .* compacts at [\d,]+$/m);
  });

  it('a very narrow screen has what counts in lines that fit', async () => {
    const { chat } = await openChat({ columns: 40 });
    const said = [await chat.enter('list files'), await chat.enter('/context')].join('\n').split('\n');

    expect(said.filter((line) => /^context \d+ of 32\.0k \(\d+ %\) · ok$/.test(line)).length).toBe(2);
    expect(said.filter((line) => /^ {2}\S.* % {2,}[\d,]+$/.test(line)).length).toBeGreaterThan(3);
    expect(said.filter((line) => line.length > 40)).toEqual([]);
    expect(await chat.enter('/help')).toContain('\n/undo\n  take the newest compaction back\n');
  });

  it('TERM=dumb gets no escape sequences, and works all the same', async () => {
    const { chat, contents } = await openChat({ env: { TERM: 'dumb' } });
    await chat.enter('hello');
    await chat.enter('/context');
    expect(chat.text()).toContain('#');
    chat.type('at length\r');
    await chat.until('the stream', (text) => text.includes('Step 6 would be to look at length'));
    chat.type(CTRL_C);
    await chat.until(
      'the cancellation',
      (text) => text.includes('cancelled; what was said') && isWaiting(text),
    );
    chat.type(CTRL_D);

    expect(await chat.ended).toBe(0);
    expect(chat.raw()).not.toContain('\u001b');
    expect(contents()[0]).toBe('hello');
  });
});
