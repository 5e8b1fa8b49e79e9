import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJsonValues } from './json-values.ts';
import { fileSource } from './source.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roundfold-source-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

describe('fileSource', () => {
  it('names, measures and reads a file as often as it is opened', async () => {
    const path = join(directory, 'two.jsonl');
    await writeFile(path, '{"a":1}\n{"b":2}\n');
    const source = await fileSource(path);

    expect(source).toMatchObject({ name: path, sizeBytes: 16 });
    for (let time = 0; time < 2; time += 1) {
      const values: unknown[] = [];
      for await (const { value } of readJsonValues(source)) values.push(value);
      expect(values).toEqual([{ a: 1 }, { b: 2 }]);
    }
  });

  it('refuses a directory', async () => {
    await expect(fileSource(directory)).rejects.toMatchObject({
      code: 'input-not-understood',
      message: `${directory} is a directory`,
      place: { source: directory },
      remedy: 'Name a file in it.',
    });
  });

  it('refuses what does not exist', async () => {
    const path = join(directory, 'missing.jsonl');

    await expect(fileSource(path)).rejects.toMatchObject({
      code: 'input-not-understood',
      message: `${path} does not exist`,
      cause: { code: 'ENOENT' },
    });
  });

  it('refuses what may not be read', async ({ skip }) => {
    if (process.getuid?.() === 0) {
      console.log('skipped: the superuser may read every file');
      skip();
    }
    const path = join(directory, 'secret.jsonl');
    await writeFile(path, '{}');
    await chmod(path, 0);

    await expect(fileSource(path)).rejects.toMatchObject({ message: `${path} may not be read` });
  });

  it('says so when the file is gone before it is opened', async () => {
    const path = join(directory, 'gone.jsonl');
    await writeFile(path, '{}');
    const source = await fileSource(path);
    await rm(path);

    await expect(readJsonValues(source).next()).rejects.toMatchObject({
      code: 'input-not-understood',
      message: `${path} could not be read on from byte 0 (ENOENT)`,
      cause: { code: 'ENOENT' },
    });
  });

  it('reads standard input for a dash, once', async () => {
    const source = await fileSource('-');

    expect(source).toMatchObject({ name: '<stdin>', sizeBytes: undefined });
    source.open();
    expect(() => source.open()).toThrow('standard input can be read only once');
  });
});
