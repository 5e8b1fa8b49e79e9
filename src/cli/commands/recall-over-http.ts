/** The tools `recall` and `search` over HTTP, on the port of a proxy: each caller reads what belongs to its own tenant. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type TenantOptions, tenantOf } from '../../proxy/caller.ts';
import type { PageHandler } from '../../proxy/server.ts';
import type { Store } from '../../stores/store.ts';
import { createToolServer, LONGEST_MESSAGE } from './mcp-server.ts';

/** Where the tools are, below the address of the proxy. */
const RECALL_PATH = '/roundfold/mcp';

export interface RecallOptions {
  readonly store: Store;
  /** Whose messages a caller may read: by the same rules as those of its requests. */
  readonly tenants: TenantOptions;
  readonly version: string;
  /** Answers everything else. */
  readonly others: PageHandler;
}

/** Pages with an MCP server among them. */
export function withRecall({ store, tenants, version, others }: RecallOptions): PageHandler {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const target = request.url ?? '/';
    if (target.split('?', 1)[0] !== RECALL_PATH) return others(request, response);
    const tenant = tenantOf({ headers: request.rawHeaders, target }, tenants);
    if (tenant === undefined) {
      refuse(response, 401, 'Send the credential that the requests have whose messages are to be read.');
      return true;
    }
    const body = await readBody(request);
    if (body === undefined) {
      refuse(response, 413, `A message has at most ${LONGEST_MESSAGE} bytes.`);
      return true;
    }
    const access = { forReading: () => store, takeFaults: () => [] };
    const tools = createMcpHandler(() =>
      createToolServer({ access, tenant, conversation: undefined, version }),
    );
    await passOn(await tools.fetch(asRequest(request, body)), response);
    return true;
  };
  return Object.assign(handle, { close: () => others.close?.() });
}

/** Undefined when it is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer; // no encoding is set, so chunks are bytes
    sizeBytes += bytes.length;
    if (sizeBytes > LONGEST_MESSAGE) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function asRequest({ method = 'GET', headers }: IncomingMessage, body: Buffer): Request {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) given.set(name, [value].flat().join(', '));
  // The handler looks at the path of no address; access was checked by the proxy.
  return new Request(`http://localhost${RECALL_PATH}`, {
    method,
    headers: given,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
}

async function passOn(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, [...answer.headers].flat());
  for await (const chunk of answer.body ?? []) if (!response.destroyed) response.write(chunk);
  response.end();
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_600, message } }));
}
