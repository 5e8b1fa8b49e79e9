import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from './listening.ts';

/** A request as it arrived, byte for byte. */
export interface ArrivedRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The value of a header; undefined when it did not come. */
  header(name: string): string | undefined;
}

export type Respond = (
  request: ArrivedRequest,
  response: ServerResponse,
  raw: IncomingMessage,
) => void | Promise<void>;

/** A server that keeps what it is sent and answers as it is told. */
export interface RecordingUpstream {
  readonly url: string;
  readonly requests: readonly ArrivedRequest[];
  close(): Promise<void>;
}

export async function startRecordingUpstream(respond: Respond): Promise<RecordingUpstream> {
  const requests: ArrivedRequest[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { rawHeaders, headers } = request;
    const arrived: ArrivedRequest = {
      method: request.method ?? '',
      target: request.url ?? '',
      rawHeaders,
      body: Buffer.concat(chunks),
      header: (name) => headers[name]?.toString(),
    };
    requests.push(arrived);
    await respond(arrived, response, request);
  };
  const server = createServer({ maxHeaderSize: 256 * 1024 }, (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const url = await listening(server);
  return {
    url,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Answers every request of an Anthropic client with a call of `read_file`, until it has so many results. */
export function callsOfAnthropic(): Respond {
  let count = 0;
  return (_request, response) => {
    count++;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: `msg_${count}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-6',
        content: [
          { type: 'text', text: `Reading file ${count} now.` },
          { type: 'tool_use', id: `toolu_${count}`, name: 'read_file', input: { path: `file-${count}.ts` } },
        ],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 10 },
      }),
    );
  };
}
