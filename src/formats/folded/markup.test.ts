import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { scanText, writeToolBlock } from './markup.ts';

const call = { id: 'a', name: 'ls', arguments: '{}', result: 'ok' };
const block = writeToolBlock(call);
const bare = block.trimEnd();

describe('scanText', () => {
  it.each([
    { title: 'no call', text: '\nhello\n', pieces: ['\nhello\n'] },
    { title: 'a call by itself', text: bare, pieces: ['', ''] },
    { title: 'a call and its line break', text: block, pieces: ['', ''] },
    { title: 'text around a call', text: `See.\n${block}So.`, pieces: ['See.', 'So.'] },
    { title: 'a blank line around a call', text: `See.\n\n${block}\nSo.\n`, pieces: ['See.\n', '\nSo.\n'] },
    { title: 'line breaks in front of it all', text: `\n\nSee.\n${block}`, pieces: ['\n\nSee.', ''] },
    { title: 'one line break and a call', text: `\n${block}`, pieces: ['', ''] },
    { title: 'two calls', text: `${block}${block}`, pieces: ['', '', ''] },
    { title: 'two calls on one line', text: `${bare}${bare}`, pieces: ['', '', ''] },
    { title: 'text between two calls', text: `${block}\n\nHm.\n\n${block}`, pieces: ['', '\n\nHm.\n', ''] },
  ])('a line break on either side belongs to the call: $title', ({ text, pieces }) => {
    expect(scanText(text)).toMatchObject({ pieces });
  });

  it('reads the result behind the summary as well', () => {
    const newer = bare
      .replace(/ result="[^"]*"/, '')
      .replace('</details>', '&quot;it&#x27;s\\nfine&quot;\n</details>');

    expect(scanText(newer)).toMatchObject({ blocks: [{ call: { ...call, result: "it's\nfine" } }] });
  });

  const anyText = fc.string({ unit: 'binary' });
  test.prop([anyText, anyText, fc.string({ unit: 'binary', minLength: 1 })])(
    'reads every call that was written',
    (input, result, id) => {
      const written = { id, name: 'ls', arguments: input, result };

      expect(scanText(writeToolBlock(written))).toMatchObject({ blocks: [{ call: written }] });
    },
  );
});

describe('writeToolBlock', () => {
  test.prop([fc.string({ unit: fc.constantFrom('&', 'amp;', '<', '>', '"', "'", '#39;', '#x27;', 'x') })])(
    'escapes what means something in markup, and scanText reads it back',
    (text) => {
      const written = { ...call, result: text };
      const [, value = ''] = / result="([^"]*)"/.exec(writeToolBlock(written)) ?? [];

      expect(scanText(writeToolBlock(written))).toMatchObject({ blocks: [{ call: written }] });
      expect(value).not.toMatch(/[<>"']/);
    },
  );
});
