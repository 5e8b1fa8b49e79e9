import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { probeFilesIn, readProbeFiles } from './probe-folder.ts';

const body = JSON.stringify({ messages: [{ role: 'user', content: 'Mend the gauge.' }] });
const probe = JSON.stringify({ id: 'p1', evidence: [['gauge']] });

describe('a folder of sessions with probes', () => {
  test('has two files for each, the session plain or packed', async () => {
    const folder = temporaryFolder();
    folder.write('quay.json', body);
    folder.write('quay.probes.jsonl', `${probe}\n${probe}\n`);
    folder.write('berth.json.gz', gzipSync(body));
    folder.write('berth.probes.jsonl', probe);
    folder.write('index.json', '[]');
    const found = probeFilesIn(folder.path);
    const sessions = await Promise.all(found.map(readProbeFiles));

    expect(found.map(({ name }) => name)).toEqual(['berth', 'quay']);
    expect(sessions.map(({ probes }) => probes.length)).toEqual([1, 2]);
    expect(sessions.map(({ cut }) => cut.session)).toEqual(['berth', 'quay']);
  });

  test('is refused where it is none, is empty, or has probes without a session', () => {
    const [empty, half] = [temporaryFolder(), temporaryFolder()];
    half.write('quay.probes.jsonl', probe);
    const refused = (path: string) => expect(() => probeFilesIn(path));

    refused(`${empty.path}/nowhere`).toThrow(/is no folder that can be read/);
    refused(empty.path).toThrow(/has no NAME\.probes\.jsonl/);
    refused(half.path).toThrow(/has probes of quay and no quay\.json/);
  });

  test('tells the line of a probe that is broken or none', async () => {
    const folder = temporaryFolder();
    folder.write('quay.json', body);
    const read = async (text: string) => {
      folder.write('quay.probes.jsonl', text);
      for (const files of probeFilesIn(folder.path)) await readProbeFiles(files);
    };

    await expect(read(`${probe}\n{"id":"p2"}\n`)).rejects.toMatchObject({
      code: 'input-not-understood',
      place: { line: 2 },
    });
    await expect(read(`${probe}\n{"id":\n${probe}\n`)).rejects.toMatchObject({ place: { line: 2 } });
  });
});
