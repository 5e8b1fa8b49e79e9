import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { ServerEvent } from './provider.ts';
import type { NumberSource } from './seeded.ts';

/** How an answer goes out. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body; sent when there are no events. */
  readonly body: unknown;
  readonly events: readonly ServerEvent[] | undefined;
  /** Data of one more event that ends the stream. */
  readonly streamEnd: string | undefined;
  readonly endOfLine: '\n' | '\r\n';
  readonly chunking: Chunking;
  readonly delayMs: number;
  /** Whether the connection breaks halfway. */
  readonly isCut: boolean;
}

/** `whole`: one write per event. `hostile`: a few bytes at a time, cut anywhere. */
export type Chunking = 'whole' | 'hostile';

/** An answer that is one JSON value. */
export function plainDelivery(status: number, body: unknown): Delivery {
  return {
    status,
    headers: {},
    body,
    events: undefined,
    streamEnd: undefined,
    endOfLine: '\n',
    chunking: 'whole',
    delayMs: 0,
    isCut: false,
  };
}

/** Sends an answer. Ends early, without an error, when the client has gone away or the simulator closes. */
export async function deliver(
  response: ServerResponse,
  delivery: Delivery,
  numbers: NumberSource,
  signal: AbortSignal,
): Promise<void> {
  if (delivery.delayMs > 0) {
    const isOver = await wait(delivery.delayMs, false, { signal }).catch(() => true);
    if (isOver) return;
  }
  const texts = textsOf(delivery);
  const contentType = delivery.events === undefined ? 'application/json' : 'text/event-stream; charset=utf-8';
  response.writeHead(delivery.status, {
    'content-type': contentType,
    ...(delivery.events === undefined ? {} : { 'cache-control': 'no-cache' }),
    ...delivery.headers,
  });
  response.flushHeaders();
  const chunks = texts.flatMap((text) => cut(Buffer.from(text), delivery.chunking, numbers));
  for (const chunk of delivery.isCut ? halfOf(chunks) : chunks) {
    if (response.destroyed) return;
    await writeChunk(response, chunk);
  }
  if (delivery.isCut) response.destroy();
  else response.end();
}

function textsOf({ body, events, streamEnd, endOfLine }: Delivery): readonly string[] {
  if (events === undefined) return [JSON.stringify(body)];
  const texts = events.map(({ event, data }) => eventText(event, JSON.stringify(data), endOfLine));
  return streamEnd === undefined ? texts : [...texts, eventText(undefined, streamEnd, endOfLine)];
}

function eventText(event: string | undefined, data: string, endOfLine: string): string {
  const name = event === undefined ? '' : `event: ${event}${endOfLine}`;
  return `${name}data: ${data}${endOfLine}${endOfLine}`;
}

const largestHostileChunk = 7;

function cut(bytes: Buffer, chunking: Chunking, numbers: NumberSource): readonly Buffer[] {
  if (chunking === 'whole') return [bytes];
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + 1 + numbers(largestHostileChunk));
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

/** Half of the chunks, and half of the one after them. */
function halfOf(chunks: readonly Buffer[]): readonly Buffer[] {
  const middle = Math.floor(chunks.length / 2);
  const last = chunks[middle];
  return [...chunks.slice(0, middle), ...(last === undefined ? [] : [last.subarray(0, last.length >> 1)])];
}

/** Each write leaves on its own, and waits for a client that reads slowly. */
async function writeChunk(response: ServerResponse, chunk: Buffer): Promise<void> {
  const hasRoom = response.write(chunk);
  await nextTurn();
  if (hasRoom || response.destroyed) return;
  await new Promise<void>((resume) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resume();
    };
    response.on('drain', done).on('close', done);
  });
}
