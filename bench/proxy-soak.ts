/**
 * Whether the memory of a proxy stays flat: many small conversations, one after the other, through a proxy with its ledger.
 *
 *   npm run bench:proxy-soak -- [--requests 100000]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { createObservation } from '../src/proxy/observe/observation.ts';
import { startProxy } from '../src/proxy/server.ts';
import { memoryStore } from '../src/stores/memory.ts';
import { collectGarbage, printGoals } from './timing.ts';

const { values } = parseArgs({ options: { requests: { type: 'string', default: '100000' } } });
const requests = Number(values.requests);
const TURNS_OF_A_CONVERSATION = 10;
const CLIENTS = 4;
const LOOKS = 20;
const SAID = 'the parser reads one token after the other and gives back what it has not used yet '.repeat(20);
const ANSWER = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'ok' }],
  usage: { input_tokens: 100, output_tokens: 5 },
});

const provider = createServer((incoming, response) => {
  incoming.resume().once('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(ANSWER);
  });
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
const store = memoryStore();
const observation = await createObservation({ store });
const proxy = await startProxy({
  store,
  upstreams: [{ url: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` }], // it listens at a port
  ...observation,
});

const dispatcher = new Agent({ connections: CLIENTS });
const heaps: number[] = [];
const residents: number[] = [];
let sent = 0;

async function work(): Promise<void> {
  while (sent < requests) {
    const number = sent++;
    await ask(Math.floor(number / TURNS_OF_A_CONVERSATION), number % TURNS_OF_A_CONVERSATION);
    if ((number + 1) % Math.floor(requests / LOOKS) === 0) look(number + 1);
  }
}

async function ask(conversation: number, turn: number): Promise<void> {
  const messages = Array.from({ length: 2 * turn + 1 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${conversation} ${index} ${SAID}`,
  }));
  const { body } = await request(`${proxy.url}/v1/messages`, {
    method: 'POST',
    dispatcher,
    headers: { 'x-api-key': 'bench', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 10, messages }),
  });
  await body.dump();
}

function look(number: number): void {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  heaps.push(heapUsed);
  residents.push(rss);
  console.log(
    `${number} requests: heap ${(heapUsed / 1e6).toFixed(0)} MB, resident ${(rss / 1e6).toFixed(0)} MB`,
  );
}

await Promise.all(Array.from({ length: CLIENTS }, work));
await proxy.close();
observation.close();
provider.close();
await dispatcher.close();
const isFine = printGoals([
  {
    name: 'M1 heap at the end ÷ heap half way',
    measured: (heaps.at(-1) ?? 0) / (heaps[LOOKS / 2] ?? 1),
    atMost: 1.1,
  },
  {
    name: 'M2 resident at the end ÷ resident half way',
    measured: (residents.at(-1) ?? 0) / (residents[LOOKS / 2] ?? 1),
    atMost: 1.1,
  },
]);
process.exitCode = isFine ? 0 : 1;
