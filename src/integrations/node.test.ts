import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messagesOfShape } from '../../test/support/shapes.ts';
import { strategyContext } from '../../test/support/strategy-context.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import type { LogRecord } from '../compaction/decorators/with-logging.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { fileLog, withLogging } from './node.ts';

const folder = temporaryFolder();
const conversation = anthropicMessages.read(messagesOfShape('ucracrua').map(({ raw }) => raw));
const window = createStrategy('sliding-window', { keepLast: 2 });
const context = strategyContext({ targetTokens: 40 });
const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogRecord & { time?: string });

describe('withLogging', () => {
  it('appends every run to a file of its own: changes, no-ops and errors', async () => {
    const path = join(folder.path, 'runs.jsonl');
    const broken = { name: 'broken', compact: () => Promise.reject(new Error('a bug')) };
    for (const inner of [window, createStrategy('none'), broken]) {
      await withLogging(inner, path)
        .compact(conversation, context)
        .catch(() => undefined);
    }

    expect(linesOf(path).map(({ strategy, status }) => `${strategy} ${status}`)).toEqual([
      'sliding-window compacted',
      'none skipped',
      'broken failed',
    ]);
    expect(linesOf(path)[0]?.diff).toHaveLength(8);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('writes the same line for the same run', async () => {
    const path = join(folder.path, 'twice.jsonl');
    for (let run = 0; run < 2; run++) await withLogging(window, path).compact(conversation, context);
    const [first, second] = readFileSync(path, 'utf8').split('\n');

    expect(second).toBe(first);
  });

  it('takes a function as well', async () => {
    const records: LogRecord[] = [];
    await withLogging(window, (record) => records.push(record)).compact(conversation, context);

    expect(records).toHaveLength(1);
  });

  it.skipIf(!existsSync('/dev/full'))('lets a run be when the disk is full, and tells', async () => {
    const errors: unknown[] = [];
    const strategy = withLogging(window, '/dev/full', { onSinkError: (error) => errors.push(error) });

    expect(await strategy.compact(conversation, context)).toMatchObject({ status: 'compacted' });
    expect(errors).toMatchObject([{ code: 'ENOSPC' }]);
  });
});

describe('fileLog', () => {
  it('puts the time in front of a record when it is asked to', async () => {
    const path = join(folder.path, 'timed.jsonl');
    const sink = fileLog(path, { now: () => new Date(0) });
    await withLogging(window, sink).compact(conversation, context);

    expect(linesOf(path)).toMatchObject([{ time: '1970-01-01T00:00:00.000Z', status: 'compacted' }]);
  });
});
