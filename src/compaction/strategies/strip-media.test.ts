import { describe, expect, it } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { type Block, textOf } from '../../conversation/message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { changeOf } from '../plan/strategy.ts';
import { createStrategy } from './registry.ts';

const image = (data = 'iVBORw0KGgo=') => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});
const document = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
};

function session(shown: readonly unknown[]) {
  return anthropicMessages.read([
    { role: 'user', content: 'task' },
    ...shown.flatMap((block, index) => [
      { role: 'assistant', content: [{ type: 'text', text: `show ${index}` }] },
      { role: 'user', content: [{ type: 'text', text: `picture ${index}` }, block] },
    ]),
    { role: 'assistant', content: [{ type: 'text', text: 'seen' }] },
    { role: 'user', content: 'go on' },
  ]);
}

/** What is left of each block that was shown: a letter, or `-` where it was taken out. */
async function left(shown: readonly unknown[], options: object = {}, pins = {}) {
  const outcome = await createStrategy('strip-media', { ...options }).compact(
    session(shown),
    strategyContext({ pins }),
  );
  if (outcome.status !== 'compacted') return outcome.reason;
  return shown
    .map((_block, index) => letterOf(outcome.conversation.messages[2 + index * 2]!.blocks[1]!))
    .join('');
}

function letterOf(block: Block): string {
  if (block.type === 'media') return block.media.slice(0, 1);
  return /^\[(image|document) removed to save space\]$/.test(textOf(block)) ? '-' : '?';
}

const images = (count: number) => Array.from({ length: count }, () => image());

describe('strip-media', () => {
  it('keeps the newest 20 images, or maxImages', async () => {
    expect(await left(images(20))).toBe('nothing-to-do');
    expect(await left(images(22))).toBe(`--${'i'.repeat(20)}`);
    expect(await left(images(4), { maxImages: 1 })).toBe('---i');
    expect(await left(images(4), { maxImages: 0 })).toBe('----');
  });

  it('keeps the newest 5 documents, or maxDocuments, and counts images apart', async () => {
    const six = Array.from({ length: 6 }, () => document);

    expect(await left(six)).toBe('-ddddd');
    expect(await left([...six, image()], { maxDocuments: 2, maxImages: 1 })).toBe('----ddi');
    expect(await left([image(), ...six], { maxDocuments: 9, maxImages: 1 })).toBe('nothing-to-do');
  });

  it('keeps 20 MB, or maxBytes, newest first', async () => {
    const megabytes = (count: number) => image('A'.repeat(count * 1_000_000));

    expect(await left([megabytes(9), megabytes(9), megabytes(9)])).toBe('-ii');
    expect(await left([image('A'.repeat(40)), image('A'.repeat(40))], { maxBytes: 79 })).toBe('-i');
    expect(await left([image('A'.repeat(40)), image('A'.repeat(40))], { maxBytes: 80 })).toBe(
      'nothing-to-do',
    );
  });

  it('leaves what is pinned', async () => {
    expect(await left(images(3), { maxImages: 0 }, { patterns: [/picture 1/] })).toBe('-i-');
  });

  const shooting = (later: readonly unknown[]) =>
    anthropicMessages.read([
      { role: 'user', content: 'task' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'screenshot', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [image(), { type: 'text', text: 'between' }, image(), image()],
          },
        ],
      },
      ...later,
    ]);
  const one = createStrategy('strip-media', { maxImages: 1 });

  it('finds pictures inside tool results, and the result stays', async () => {
    const conversation = shooting([{ role: 'assistant', content: 'seen' }]);
    const outcome = await one.compact(conversation, strategyContext());
    const block = changeOf(outcome)?.conversation.messages[2]?.blocks[0];
    const content = block?.type === 'tool-result' ? block.content : [];

    expect(content.map(letterOf)).toEqual(['-', '?', '-', 'i']);
    expect(content.map((inner) => textOf(inner))[1]).toBe('between');
  });

  it('leaves pictures that the model has not answered', async () => {
    expect(await one.compact(shooting([]), strategyContext())).toMatchObject({ reason: 'nothing-to-do' });
  });
});
