import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listening } from './listening.ts';

// HTTP/1.1 by hand, so that a test sees every byte: no library folds, adds, sorts or unpacks anything.

/** A request or an answer as it was on the wire. */
export interface RawMessage {
  /** The first line, without its end. */
  readonly start: string;
  /** Names and values in turn, in their order and spelling. */
  readonly headers: readonly string[];
  /** Without the lengths of its chunks. */
  readonly body: Buffer;
  readonly trailers: readonly string[];
}

/** How the length of a body is told: by a header, in chunks, by the end of the connection, or not at all. */
export type Framing = 'length' | 'chunked' | 'close' | 'none';

/** The bytes of a message, its body in chunks that end at the given places. */
export function writeMessage(message: RawMessage, framing: Framing, cuts: readonly number[] = []): Buffer {
  const { start, headers, body, trailers } = message;
  const framed: Readonly<Record<Framing, readonly string[]>> = {
    length: ['Content-Length', String(body.length)],
    chunked: ['Transfer-Encoding', 'chunked'],
    close: ['Connection', 'close'],
    none: [],
  };
  const head = Buffer.from(`${start}\r\n${linesOf([...headers, ...framed[framing]])}\r\n`, 'latin1');
  if (framing !== 'chunked') return Buffer.concat([head, body]);
  const chunks = cutUp(body, cuts).flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([head, ...chunks, Buffer.from(`0\r\n${linesOf(trailers)}\r\n`, 'latin1')]);
}

/** Bytes in pieces that end at the given places; none of them is empty. */
export function cutUp(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length);
  const ends = [...places.sort((left, right) => left - right), bytes.length];
  return ends
    .map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end))
    .filter(({ length }) => length > 0);
}

/** Writes pieces, each in a turn of its own. */
async function writePieces(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A client that keeps its connection, as programs do: an answer that is read wrongly spoils the next. */
export interface RawClient {
  /** Sends bytes in pieces and reads the answer, interim ones left out. `method` tells whether it has a body. */
  ask(pieces: readonly Buffer[], method: string): Promise<RawMessage>;
  /** How many connections it took. */
  connections(): number;
  close(): void;
}

export function createRawClient(url: string): RawClient {
  const { hostname, port } = new URL(url);
  let socket: Socket | undefined;
  let connections = 0;
  let asked = { method: '', ...Promise.withResolvers<RawMessage>() };

  const open = async (): Promise<Socket> => {
    if (socket?.writable === true) return socket;
    const made = connect({ port: Number(port), host: hostname, noDelay: true });
    connections++;
    const reader = createReader(
      (start) => hasNoBody(start, asked.method),
      (answer) => asked.resolve(answer),
    );
    made.on('data', (chunk) => reader.push(chunk));
    made.on('error', () => made.destroy());
    made.on('close', () => {
      if (made !== socket) return;
      reader.end();
      asked.reject(new Error('the connection ended before the answer did'));
    });
    socket = made;
    await once(made, 'connect');
    return made;
  };

  return {
    async ask(pieces, method) {
      asked = { method, ...Promise.withResolvers<RawMessage>() };
      const { promise } = asked;
      const used = await open();
      const [answer] = await Promise.all([promise, writePieces(used, pieces)]);
      if (headerValue(answer.headers, 'connection')?.toLowerCase() === 'close') {
        socket = undefined;
        used.destroy();
      }
      return answer;
    },
    connections: () => connections,
    close: () => void socket?.destroy(),
  };
}

/** A server that answers every request with the bytes it was given for it, and keeps what arrived. */
export interface RawUpstream {
  readonly url: string;
  /** The newest request. */
  arrived(): RawMessage | undefined;
  /** What the next requests are answered with. */
  answerWith(pieces: readonly Buffer[], isClosing: boolean): void;
  close(): Promise<void>;
}

export async function startRawUpstream(): Promise<RawUpstream> {
  let arrived: RawMessage | undefined;
  let answer: { readonly pieces: readonly Buffer[]; readonly isClosing: boolean } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const reader = createReader(
      () => false,
      (request) => {
        arrived = request;
        const { pieces, isClosing } = answer ?? { pieces: [], isClosing: true };
        void writePieces(socket, pieces).then(() => (isClosing ? socket.end() : undefined));
      },
    );
    socket.on('data', (chunk) => reader.push(chunk));
  });
  const url = await listening(server);
  return {
    url,
    arrived: () => arrived,
    answerWith(pieces, isClosing) {
      arrived = undefined;
      answer = { pieces, isClosing };
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

interface Head {
  readonly start: string;
  readonly headers: readonly string[];
  readonly bodyAt: number;
  readonly length: number | 'chunked' | 'close';
}

/** Reads messages off a connection, one after the other. */
function createReader(isBodiless: (start: string) => boolean, take: (message: RawMessage) => void) {
  let held: Buffer[] = [];
  let size = 0;
  let head: Head | undefined;
  const keep = (bytes: Buffer) => {
    held = bytes.length === 0 ? [] : [bytes];
    size = bytes.length;
    head = undefined;
  };
  const all = () => {
    const [only, ...others] = held;
    const bytes = only !== undefined && others.length === 0 ? only : Buffer.concat(held, size);
    held = [bytes];
    return bytes;
  };
  const finish = (known: Head, body: Buffer, trailers: readonly string[], end: number) => {
    const rest = all().subarray(end);
    keep(rest);
    take({ start: known.start, headers: known.headers, body, trailers });
  };
  const step = (): boolean => {
    head ??= readHead(all(), isBodiless);
    if (head === undefined) return false;
    const { bodyAt, length, start } = head;
    if (/^HTTP\/1\.1 1\d\d/.test(start)) {
      keep(all().subarray(bodyAt));
      return size > 0;
    }
    if (length === 'close') return false;
    if (length !== 'chunked') {
      if (size < bodyAt + length) return false;
      finish(head, all().subarray(bodyAt, bodyAt + length), [], bodyAt + length);
      return size > 0;
    }
    if (!(held.at(-1) ?? Buffer.of()).subarray(-4).toString('latin1').endsWith('\n')) return false;
    const read = readChunks(all(), bodyAt);
    if (read === undefined) return false;
    finish(head, read.body, read.trailers, read.end);
    return size > 0;
  };
  return {
    push(chunk: Buffer) {
      held.push(chunk);
      size += chunk.length;
      while (step());
    },
    /** The connection has ended, and with it a body without a length. */
    end() {
      if (head?.length === 'close') finish(head, all().subarray(head.bodyAt), [], size);
    },
  };
}

function readHead(bytes: Buffer, isBodiless: (start: string) => boolean): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [start = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = headersOf(lines);
  const isAnswer = start.startsWith('HTTP/');
  const length = (): Head['length'] => {
    if (isBodiless(start)) return 0;
    if (headerValue(headers, 'transfer-encoding') !== undefined) return 'chunked';
    const told = headerValue(headers, 'content-length');
    if (told !== undefined) return Number(told);
    return isAnswer && !/^HTTP\/1\.1 1/.test(start) ? 'close' : 0;
  };
  return { start, headers, bodyAt: end + 4, length: length() };
}

function readChunks(bytes: Buffer, from: number) {
  const chunks: Buffer[] = [];
  let place = from;
  for (;;) {
    const line = bytes.indexOf('\r\n', place);
    if (line === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(place, line).toString('latin1'), 16);
    place = line + 2;
    if (size === 0) break;
    if (bytes.length < place + size + 2) return undefined;
    chunks.push(bytes.subarray(place, place + size));
    place += size + 2;
  }
  const lines: string[] = [];
  for (;;) {
    const line = bytes.indexOf('\r\n', place);
    if (line === -1) return undefined;
    const text = bytes.subarray(place, line).toString('latin1');
    place = line + 2;
    if (text === '') return { body: Buffer.concat(chunks), trailers: headersOf(lines), end: place };
    lines.push(text);
  }
}

/** The value of a header, by its name in lower case; undefined when it is not there. */
export function headerValue(headers: readonly string[], name: string): string | undefined {
  const place = headers.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return place === -1 ? undefined : headers[place + 1];
}

function headersOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')];
  });
}

function linesOf(headers: readonly string[]): string {
  let text = '';
  for (let index = 0; index < headers.length; index += 2)
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return text;
}

function hasNoBody(start: string, method: string): boolean {
  return method === 'HEAD' || /^HTTP\/1\.1 (?:204|304)/.test(start);
}
