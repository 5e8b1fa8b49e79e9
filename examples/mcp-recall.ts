/**
 * A client that sends all of its history with every request, kept by a keeper: what leaves the context is archived in a
 * store under a handle, and an agent reads it again, byte for byte, through `roundfold mcp`.
 *
 * Run it with `npm run build && node examples/mcp-recall.ts`. It starts a provider of its own and needs no key.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createKeeper } from 'roundfold/keeper';
import { sqliteStore } from 'roundfold/stores';
import { gauge, rehearse, type Stage, TASK, WINDOW } from './support/rehearsal.ts';

const model = 'claude-opus-4-5';
const tools: Anthropic.Tool[] = [
  { name: gauge.name, description: gauge.description, input_schema: gauge.schema },
];

/** The history of a whole conversation, and the messages that stood for it in the last request. */
async function converse({ url, onEvent }: Stage, path: string) {
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const store = sqliteStore({ path });
  const keeper = createKeeper({ store, tenant: 'me', model, windowTokens: WINDOW, onEvent });
  const history: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }];
  try {
    for (;;) {
      // The client knows nothing of views: its history only grows, and what is sent stands for it.
      const request = { model, max_tokens: 2000, tools, messages: history };
      const { value } = await keeper.prepare(request);
      const { content, stop_reason } = await client.messages.create(value);
      if (stop_reason !== 'tool_use') return { history, sent: value.messages };
      history.push({ role: 'assistant', content });
      const results = content
        .filter((block) => block.type === 'tool_use')
        .map(({ id, input }) => {
          const { number } = input as { number: number }; // the schema of the tool says so
          return { type: 'tool_result' as const, tool_use_id: id, content: gauge.read(number) };
        });
      history.push({ role: 'user', content: results });
    }
  } finally {
    await keeper.close();
    await store.close();
  }
}

/** Everything under a handle. A call gives a piece of it and says where to go on. */
async function recall(client: Client, handle: string): Promise<string> {
  const pieces: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { content } = await client.callTool({ name: 'recall', arguments: { handle, offset } });
    const [piece = '', note] = content.map((part) => (part.type === 'text' ? part.text : ''));
    pieces.push(piece);
    offset = note === undefined ? undefined : Number(/Go on with offset (\d+)/.exec(note)?.[1]);
  }
  return pieces.join('');
}

/** The messages with what each handle stands for in its place. What a handle gives may hold older handles. */
async function unfold(messages: readonly unknown[], recalled: (handle: string) => Promise<string>) {
  const unfolded: unknown[] = [];
  for (const message of messages) {
    const [handle] = /rf:[0-9a-f]{32}/.exec(JSON.stringify(message)) ?? [];
    if (handle === undefined) unfolded.push(message);
    else unfolded.push(...(await unfold(JSON.parse(await recalled(handle)) as unknown[], recalled)));
  }
  return unfolded;
}

await rehearse('mcp-recall', async (stage) => {
  const folder = mkdtempSync(join(tmpdir(), 'roundfold-example-'));
  const path = join(folder, 'store.sqlite');
  const client = new Client({ name: 'example', version: '1.0.0' });
  try {
    const { history, sent } = await converse(stage, path);

    // In a program of yours the command is `roundfold mcp`.
    const command = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('roundfold/package.json')));
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [command, 'mcp', '--store', path] }),
    );
    let handles = 0;
    const unfolded = await unfold(sent, (handle) => {
      handles++;
      return recall(client, handle);
    });
    if (handles === 0) throw new Error('the context holds no handle');
    const [said, read] = [history, unfolded].map((messages) => JSON.stringify(messages));
    if (said !== read) throw new Error('what was recalled is not what was said');
    return `${handles} handles recalled, ${sent.length} messages unfolded to all ${history.length}, byte for byte`;
  } finally {
    await client.close();
    rmSync(folder, { recursive: true });
  }
});
