import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exchangeRecord } from '../../../test/support/exchange-records.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { createRequestLog } from './log.ts';

const folder = temporaryFolder();

function logged(tell: (log: ReturnType<typeof createRequestLog>) => void): readonly string[] {
  const lines: string[] = [];
  tell(createRequestLog({ write: (line) => lines.push(line), now: () => 0 }));
  return lines;
}

describe('the log', () => {
  it('has one line of JSON for every exchange', () => {
    const usage = { promptTokens: 9, outputTokens: 1, cacheReadTokens: 5 };
    const [line = ''] = logged((log) => log.exchange(exchangeRecord({ status: 'folded', usage })));

    expect(line.endsWith('\n')).toBe(true);
    expect(JSON.parse(line)).toEqual({
      at: '2026-11-18T12:00:00.000Z',
      event: 'exchange',
      kind: 'generate',
      format: 'anthropic-messages',
      tenant: 'a'.repeat(12),
      conversation: 'c'.repeat(12),
      client: 'claude-code',
      model: 'claude-sonnet-5-5',
      status: 'folded',
      messages: 10,
      received: 10_000,
      sent: 10_000,
      window: 200_000,
      recoveries: 0,
      http: 200,
      prompt: 9,
      output: 1,
      cacheRead: 5,
      streamed: true,
      prepareMs: 3,
      firstByteMs: 300,
      totalMs: 2000,
    });
  });

  it('cannot be made to hold a second line or to move a cursor', () => {
    const hostile = 'm\r\n{"event":"exchange"}\u001b[2J\u2028\u2029\u0085\u202e\u0000';
    const lines = logged((log) => {
      log.exchange(exchangeRecord({ model: hostile, client: hostile, format: hostile }));
      log.windowLearnt(hostile, 1);
      log.keeperEvent({ type: 'compaction-paused', reason: hostile, turns: 1 });
    });

    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e↵…]*$/u);
      expect(Object.keys(JSON.parse(line) as object)).toContain('at');
    }
  });

  it('says of errors what kind they are and never what they say', () => {
    const error = new RangeError('Bearer sk-secret');
    const lines = logged((log) => {
      log.keeperEvent({ type: 'store-failed', operation: 'find', error });
      log.keeperEvent({ type: 'compaction-failed', conversation: 'c'.repeat(64), error });
      log.keeperEvent({ type: 'prepare-failed', error });
    });

    expect(lines.map((line) => (JSON.parse(line) as { error: string }).error)).toEqual(
      Array(3).fill('RangeError'),
    );
    expect(lines.join('')).not.toContain('sk-secret');
  });

  it('takes only the fields it knows from a record', () => {
    const [line = ''] = logged((log) =>
      log.exchange({
        ...exchangeRecord(),
        ...({ authorization: 'Bearer sk-secret', body: 'hello' } as object),
      }),
    );

    expect(line).not.toMatch(/sk-secret|hello/);
  });

  it('is appended to a file that only its owner can read', () => {
    const file = join(folder.path, 'proxy.log');
    for (let start = 0; start < 2; start++) {
      const log = createRequestLog({ file });
      log.exchange(exchangeRecord());
      log.close();
      log.exchange(exchangeRecord());
    }

    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('says so when its file cannot be opened', () => {
    expect(() => createRequestLog({ file: join(folder.path, 'no/such/folder.log') })).toThrow(
      expect.objectContaining({ code: 'usage', remedy: expect.stringContaining('folder') }),
    );
  });
});
