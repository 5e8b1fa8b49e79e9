import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chatOpener } from '../support/chat-terminal.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const openChat = chatOpener(folder);

/** One letter per message: `u` user text, `a` answer, `c` call, `r` its result. */
function written(shape: string): string {
  let calls = 0;
  const messages = [...shape].map((letter, index) => {
    const text = { type: 'text', text: `${letter} ${index} ${'words '.repeat(20)}end` };
    if (letter === 'c') {
      const call = { type: 'tool_use', id: `toolu_${++calls}`, name: 'list_files', input: { path: '.' } };
      return { role: 'assistant', content: [call] };
    }
    if (letter !== 'r') return { role: letter === 'u' ? 'user' : 'assistant', content: [text] };
    const result = { type: 'tool_result', tool_use_id: `toolu_${Math.max(1, calls)}`, content: [text] };
    return { role: 'user', content: [result] };
  });
  // Questions in a row are what a provider that cannot be reached leaves in a chat; read from a request they are joined.
  if (shape.includes('uu')) {
    const header = {
      type: 'roundfold-chat',
      version: 1,
      format: 'anthropic-messages',
      model: 'offline',
      pins: [],
    };
    return folder.write(
      `${shape}.jsonl`,
      [header, ...messages].map((line) => JSON.stringify(line)).join('\n'),
    );
  }
  const request = { model: 'claude-sonnet-4-5', max_tokens: 100, system: 'Be brief.', messages };
  return folder.write(`${shape}.json`, JSON.stringify(request));
}

/** Opens a conversation of such a shape; its messages as they are saved. */
async function openShape(shape: string, ...args: readonly string[]) {
  const opened = await openChat(['--load', written(shape), ...args]);
  await opened.chat.enter('/save');
  return { ...opened, loaded: opened.messages() };
}

/** What may stay of a list that is cut at an index: the task, and what stands behind the cut. */
function cutAt<Item>(list: readonly Item[], index: number): readonly Item[] {
  return index === 0 ? list : [...list.slice(0, 1), ...list.slice(index)];
}

/** Where a cut may be made for every index that is wanted, from 0 to one beyond the end. */
const points: readonly (readonly [shape: string, points: readonly number[]])[] = [
  ['uau', [0, 0, 2, 3, 3]],
  ['uaucra', [0, 0, 2, 2, 2, 2, 6, 6]],
  ['u', [0, 1, 1]],
  ['ucrau', [0, 0, 0, 0, 4, 5, 5]],
  // Nobody has answered any of them: all four are the current turn.
  ['uuuu', [0, 0, 0, 0]],
];

describe('/compact sliding', () => {
  it.each(points)('cuts %s where a question stands, or not at all', async (shape, wanted) => {
    const { chat, messages, loaded } = await openShape(shape);
    expect(loaded.length).toBe(shape.length);
    for (let keepLast = shape.length; keepLast >= 1; keepLast--) {
      const expected = cutAt(loaded, wanted[shape.length - keepLast] ?? 0);
      const said = await chat.enter(`/compact sliding keepLast=${keepLast}`);
      const isCut = expected.length < loaded.length;

      expect(said).toContain(
        isCut ? `\ncompacted: ${loaded.length} → ${expected.length} messages` : '\nnot compacted: ',
      );
      expect({ keepLast, kept: messages() }).toEqual({ keepLast, kept: expected });
      if (isCut) await chat.enter('/undo');
      expect(messages()).toEqual(loaded);
    }
    // At or beyond the end nothing at all would be left.
    for (const keepLast of [0, -1])
      expect(await chat.enter(`/compact sliding keepLast=${keepLast}`)).toContain('nothing was changed');
    expect(messages()).toEqual(loaded);
  });

  it('gives up where there is no question (ra)', async () => {
    const { chat, messages, loaded } = await openShape('ra');
    for (let keepLast = loaded.length; keepLast >= 1; keepLast--)
      expect(await chat.enter(`/compact sliding keepLast=${keepLast}`)).toContain('\nnot compacted: ');

    expect(messages()).toEqual(loaded);
  });

  it('keeps 6 without being told', async () => {
    const { chat, messages, loaded } = await openShape('uauauauaua');
    expect(await chat.enter('/compact sliding')).toContain('\ncompacted: 10 → 7 messages');

    expect(messages()).toEqual(cutAt(loaded, 4));
  });
});

describe('one question and many calls', () => {
  const single = `u${'cr'.repeat(5)}`;

  it(`${single} is cut before a call`, async () => {
    const { chat, messages, loaded } = await openShape(single);
    for (const [keepLast, start] of [
      [6, 5],
      [5, 5],
      [4, 7],
      [2, 9],
    ] as const) {
      const expected = cutAt(loaded, start);
      const said = await chat.enter(`/compact sliding keepLast=${keepLast}`);
      expect(said).toContain(`\ncompacted: 11 → ${expected.length} messages`);
      expect(messages()).toEqual(expected);
      await chat.enter('/undo');
    }
    expect(messages()).toEqual(loaded);
  });

  it('every strategy makes it smaller, and providers accept what is left', async () => {
    const { chat, messages, loaded } = await openShape(`u${'cr'.repeat(20)}`, '--window', '1500');
    const bodies: string[] = [];
    for (const words of [
      'sliding',
      'summarize',
      'token-budget budget=900',
      'snip',
      'sliding-window',
      'ladder',
      'collapse',
    ]) {
      const said = await chat.enter(`/compact ${words}`);
      const [, before = '', after = ''] = /([\d,]+) → ([\d,]+) tokens \(/.exec(said) ?? [];
      const body = join(folder.path, `single-${bodies.length}.json`);
      bodies.push(body);
      await chat.enter(`/export ${body}`);

      expect(said).toContain('\ncompacted: 41 → ');
      expect(toNumber(after)).toBeLessThan(toNumber(before));
      expect(messages()[0]).toBe(loaded[0]);
      await chat.enter('/undo');
      expect(messages()).toEqual(loaded);
    }
    const { code, stdout, stderr } = await runCli(['check', ...bodies]);

    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `${bodies.length} conversations, 0 with violations\n`,
    });
    expect(stdout.match(/^legal /gm)?.length).toBe(bodies.length);
  });
});

function toNumber(written: string): number {
  return Number(written.replaceAll(',', ''));
}
