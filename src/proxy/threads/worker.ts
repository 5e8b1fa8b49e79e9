/** The thread in which conversations are folded. Loaded by path. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openStore } from '../../stores/registry.ts';
import { createFolder } from '../fold.ts';
import type { FoldEvent } from '../record.ts';
import { createWindows } from '../windows.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './thread-folder.ts';

if (parentPort !== null) serve(parentPort, workerData as WorkerSettings); // what `createWorkerFolder` starts it with

function serve(port: MessagePort, settings: WorkerSettings): void {
  const tell = (message: FromWorker, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, transfer);
  const { secret, address, ...shaping } = settings;
  const store = openStore(address, { secret });
  const windows = createWindows(settings);
  const folder = createFolder({
    ...shaping,
    store,
    knownWindows: {
      ...windows,
      learn(query, learnt) {
        const isNews = windows.learn(query, learnt);
        if (isNews) tell({ type: 'learnt', query, learnt });
        return isNews;
      },
    },
    onEvent: (event) => tell({ type: 'event', event: plainEvent(event) }),
  });
  const underWay = new Map<number, AbortController>();

  const fold = async ({ id, request }: Extract<ToWorker, { type: 'fold' }>): Promise<void> => {
    const abandoned = new AbortController();
    underWay.set(id, abandoned);
    const folded = await folder.fold(request, abandoned.signal);
    underWay.delete(id);
    const { body } = folded;
    const isOwn =
      body !== undefined && body.buffer instanceof ArrayBuffer && body.buffer !== request.body.buffer;
    tell({ type: 'folded', id, folded }, isOwn ? [body.buffer as ArrayBuffer] : []);
  };

  const answer = async (message: ToWorker): Promise<void> => {
    switch (message.type) {
      case 'fold':
        await fold(message);
        return;
      case 'abandon':
        underWay.get(message.id)?.abort();
        return;
      case 'report':
        folder.report(message.turn, message.usage);
        return;
      case 'learn':
        windows.learn(message.query, message.learnt);
        return;
      case 'settle':
        await folder.settle();
        tell({ type: 'done', id: message.id });
        return;
      case 'close':
        await folder.close();
        await store.close();
        tell({ type: 'done', id: message.id });
        return;
    }
  };
  port.on('message', (message: ToWorker) => {
    answer(message).catch((error: unknown) => {
      tell({ type: 'event', event: plainEvent({ type: 'prepare-failed', error }) });
      if ('id' in message) tell({ type: 'done', id: message.id });
    });
  });
}

/** Errors can hold anything; a thread can send only plain ones. */
function plainEvent(event: FoldEvent): FoldEvent {
  if (!('error' in event)) return event;
  const { error } = event;
  return { ...event, error: new Error(error instanceof Error ? error.message : 'unknown') };
}
