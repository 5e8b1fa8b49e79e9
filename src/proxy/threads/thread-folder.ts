import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Usage } from '../../conversation/message.ts';
import { beginningOf } from '../body/body-bytes.ts';
import { hashOf } from '../body/body-memory.ts';
import { createFolder, type FolderOptions, passed } from '../fold.ts';
import type { Folded, Folder, FoldRequest, TurnName } from '../folder.ts';
import type { FoldEvent } from '../record.ts';
import { createWindows, type LearntWindow, type WindowQuery } from '../windows.ts';

/** What shapes folding and can be sent to a thread. */
export type WorkerSettings = Pick<
  FolderOptions,
  'mode' | 'windowTokens' | 'windows' | 'trigger' | 'target' | 'archive'
> & {
  /** Address of the store: every thread opens it for itself. */
  readonly address: string;
  readonly secret?: string | undefined;
};

export interface WorkerFolderOptions
  extends WorkerSettings,
    Pick<FolderOptions, 'store' | 'onEvent' | 'onWindowLearnt'> {
  /** Number of threads, from 2 on. Default: one less than there are processors, from 2 to 4. */
  readonly threads?: number | undefined;
}

/** What a thread is asked. */
export type ToWorker =
  | { readonly type: 'fold'; readonly id: number; readonly request: FoldRequest }
  | { readonly type: 'abandon'; readonly id: number }
  | { readonly type: 'report'; readonly turn: TurnName; readonly usage: Usage }
  | { readonly type: 'learn'; readonly query: WindowQuery; readonly learnt: LearntWindow }
  | { readonly type: 'settle' | 'close'; readonly id: number };

/** What a thread tells. */
export type FromWorker =
  | { readonly type: 'folded'; readonly id: number; readonly folded: Folded }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'event'; readonly event: FoldEvent }
  | { readonly type: 'learnt'; readonly query: WindowQuery; readonly learnt: LearntWindow };

const FEWEST_THREADS = 2;
const MOST_THREADS = 4;
/** What is smaller is read faster than it is sent to a thread, and must not wait for one that is compacting. */
const SMALL_BODY_BYTES = 64 * 1024;
/** What is larger has threads of its own: compacting it takes so long that smaller ones would feel it. */
const LARGE_BODY_BYTES = 1024 * 1024;

/**
 * A folder that does large work in other threads, so that a long compaction holds no answer up. A conversation stays with
 * its thread. A thread that dies is replaced, and the requests it had go on as they came.
 */
export function createWorkerFolder(options: WorkerFolderOptions): Folder {
  const { onEvent, onWindowLearnt, store, threads: asked } = options;
  const { address, secret, mode, windowTokens, windows, trigger, target, archive } = options;
  const shaping = { mode, windowTokens, windows, trigger, target, archive };
  const count = Math.max(FEWEST_THREADS, asked ?? Math.min(MOST_THREADS, availableParallelism() - 1));
  const known = createWindows(shaping);

  /** Whatever one of them learns, all others know. */
  const learn = (query: WindowQuery, learnt: LearntWindow, from?: FoldThread): boolean => {
    const isNews = known.learn(query, learnt);
    if (isNews) {
      onWindowLearnt?.(query.model, learnt.windowTokens);
      for (const thread of threads) if (thread !== from) thread.tell({ type: 'learn', query, learnt });
    }
    return isNews;
  };
  const threads = Array.from(
    { length: count },
    () =>
      new FoldThread({ ...shaping, address, secret }, (from, message) => {
        if (message.type === 'event') onEvent?.(message.event);
        else learn(message.query, message.learnt, from);
      }),
  );
  const here = createFolder({ ...shaping, store, onEvent, knownWindows: { ...known, learn } });

  const half = Math.floor(threads.length / 2);
  /** Undefined for what is done in this thread. */
  const threadFor = (body: Uint8Array): FoldThread | undefined => {
    if (body.length < SMALL_BODY_BYTES) return undefined;
    const lane = body.length < LARGE_BODY_BYTES ? threads.slice(0, half) : threads.slice(half);
    return lane[hashOf(beginningOf(body)) % lane.length];
  };
  /** Who waits for what is reported. */
  const places = new WeakMap<TurnName, FoldThread>();

  return {
    async fold(request, signal) {
      const thread = threadFor(request.body);
      const folded = await (thread ?? here).fold(request, signal);
      if (thread !== undefined && folded.turn !== undefined) places.set(folded.turn, thread);
      return folded;
    },
    report(turn, usage) {
      const thread = places.get(turn);
      if (thread === undefined) here.report(turn, usage);
      else thread.tell({ type: 'report', turn, usage });
    },
    async settle() {
      await Promise.all([here.settle(), ...threads.map((thread) => thread.ask('settle'))]);
    },
    async close() {
      await Promise.all([here.close(), ...threads.map((thread) => thread.end())]);
    },
  };
}

/** The code of a thread: beside this file as source, and wherever the package is built to. */
function workerFile(): URL {
  const built = [
    './worker.js',
    '../proxy/threads/worker.js',
    './threads/worker.js',
    './proxy/threads/worker.js',
  ];
  const urls = [
    new URL('./worker.ts', import.meta.url),
    ...built.map((place) => new URL(place, import.meta.url)),
  ];
  const found = urls.find((url) => existsSync(fileURLToPath(url)));
  if (found === undefined) throw new Error('the code of the threads is missing from this package');
  return found;
}

type Told = (from: FoldThread, message: Extract<FromWorker, { type: 'event' | 'learnt' }>) => void;

class FoldThread {
  readonly #settings: WorkerSettings;
  readonly #told: Told;
  readonly #waiting = new Map<number, (answer: Folded | undefined) => void>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isEnding = false;
  /** A thread that has died is not started again at once: what killed it may still be there. */
  #restsUntil = 0;
  /** What a new thread has to be told. */
  readonly #learnt: ToWorker[] = [];

  constructor(settings: WorkerSettings, told: Told) {
    this.#settings = settings;
    this.#told = told;
  }

  async fold(request: FoldRequest, signal: AbortSignal | undefined): Promise<Folded> {
    if (performance.now() < this.#restsUntil) return passed('failed');
    const id = ++this.#lastId;
    // Sent away without a copy being made on the other side: the bytes that came may have to go on as they are.
    const body = new Uint8Array(request.body);
    const abandon = () => this.#post({ type: 'abandon', id });
    signal?.addEventListener('abort', abandon, { once: true });
    const answered = this.#wait(id);
    this.#post({ type: 'fold', id, request: { ...request, body } }, [body.buffer]);
    const folded = await answered;
    signal?.removeEventListener('abort', abandon);
    return folded ?? passed('failed');
  }

  async ask(type: 'settle' | 'close'): Promise<void> {
    if (this.#worker === undefined) return;
    const id = ++this.#lastId;
    const answered = this.#wait(id);
    this.#post({ type, id });
    await answered;
  }

  async end(): Promise<void> {
    await this.ask('close');
    this.#isEnding = true;
    await this.#worker?.terminate();
  }

  /** Something that a thread which does not run yet has no need to know. */
  tell(message: Extract<ToWorker, { type: 'report' | 'learn' }>): void {
    if (message.type === 'learn') this.#learnt.push(message);
    if (this.#worker !== undefined) this.#post(message);
  }

  #post(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#isEnding) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage(message, transfer);
  }

  #wait(id: number): Promise<Folded | undefined> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
    });
  }

  #start(): Worker {
    const worker = new Worker(workerFile(), { workerData: this.#settings });
    // Nothing but open connections keeps a proxy alive.
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#take(message));
    worker.on('error', (error) =>
      this.#told(this, { type: 'event', event: { type: 'prepare-failed', error } }),
    );
    worker.on('exit', () => this.#abandonAll(worker));
    for (const message of this.#learnt) worker.postMessage(message);
    return worker;
  }

  #take(message: FromWorker): void {
    if (message.type === 'event' || message.type === 'learnt') {
      this.#told(this, message);
      return;
    }
    const resolve = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    resolve?.(message.type === 'folded' ? message.folded : undefined);
  }

  #abandonAll(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
    if (!this.#isEnding) this.#restsUntil = performance.now() + REST_MS;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }
}

const REST_MS = 5_000;
