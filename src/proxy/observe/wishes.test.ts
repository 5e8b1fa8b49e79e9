import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { createWishes } from './wishes.ts';

const folder = temporaryFolder();
const key = (conversation: string, tenant = 't') => ({ tenant, conversation });

describe('wishes', () => {
  it('are found by tenant and name, and gone when nothing is asked for any more', () => {
    const book = createWishes();
    book.wish([key('one'), key('other-name')], { foldedUpTo: 4, pinned: [7] });

    expect(book.wishesFor(key('one'))).toMatchObject({ foldedUpTo: 4, pinned: [7] });
    expect(book.wishesFor(key('other-name'))).toMatchObject({ foldedUpTo: 4 });
    expect(book.wishesFor(key('one', 'another tenant'))).toBeUndefined();
    expect(book.of('t').map(({ conversation }) => conversation)).toEqual(['one', 'other-name']);
    expect(book.of('another tenant')).toEqual([]);

    book.wish([key('one'), key('other-name')], { pinned: [] });
    expect(book.of('t')).toEqual([]);
  });

  it('outlive the process in a file that only its owner can read', () => {
    const file = join(folder.path, 'wishes.json');
    createWishes({ file }).wish([key('one')], { pinned: [1, 2] });

    expect(createWishes({ file }).wishesFor(key('one'))).toEqual({ ...key('one'), pinned: [1, 2] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it.each([
    '{',
    '{}',
    '[{"tenant":1,"conversation":"c"}]',
    '[{"tenant":"t","conversation":"c","pinned":[-1]}]',
  ])('are refused when their file holds %s', (text) => {
    const file = folder.write('bad.json', text);
    expect(() => createWishes({ file })).toThrow(expect.objectContaining({ code: 'store' }));
  });

  it('stay as they were when they cannot be written', () => {
    const file = join(folder.path, 'gone/wishes.json');
    const book = createWishes({ file });
    expect(() => book.wish([key('one')], { pinned: [1] })).toThrow(
      expect.objectContaining({ code: 'store' }),
    );
    expect(book.wishesFor(key('one'))).toBeUndefined();
  });

  it('are refused when their file cannot be read', () => {
    expect(() => createWishes({ file: folder.path })).toThrow(expect.objectContaining({ code: 'store' }));
  });
});
