import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { exchangeRecord } from '../../../test/support/exchange-records.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { memoryStore } from '../../stores/memory.ts';
import { createObservation } from './observation.ts';

const folder = temporaryFolder();

describe('watching a proxy', () => {
  afterEach(() => trace.disable());

  it('tells the ledger and the log of everything, also while an exporter of spans throws', async () => {
    trace.setGlobalTracerProvider({
      getTracer: () => {
        throw new Error('no exporter');
      },
    });
    const file = join(folder.path, 'proxy.log');
    const { observer, ledger, close } = await createObservation({ store: memoryStore(), log: { file } });
    observer.exchange(exchangeRecord());
    observer.windowLearnt('gpt-x', 1000);
    observer.keeperEvent({ type: 'store-failed', operation: 'find', error: new Error('gone') });
    observer.streamOpened();
    observer.streamOpened();
    observer.streamClosed();
    close();

    expect(ledger.health()).toMatchObject({ requests: 1, activeStreams: 1, store: { count: 1 } });
    const events = readFileSync(file, 'utf8').trim().split('\n');
    expect(events.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      'exchange',
      'window-learnt',
      'store-failed',
    ]);
  });

  it('says at once when a file cannot be used', async () => {
    const file = join(folder.path, 'no/such/file');
    await expect(createObservation({ store: memoryStore(), log: { file } })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
