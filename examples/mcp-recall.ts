/**
 * A client that sends all of its history with every request, kept by a keeper: what leaves the context is archived in a
 * store under a handle, and an agent reads it again, page by page, through `roundfold mcp`.
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

/** Everything under a handle. A call gives a page of it, and a note that says whether there is another one. */
async function recall(client: Client, handle: string): Promise<readonly string[]> {
  const pages: string[] = [];
  for (;;) {
    const { content } = await client.callTool({
      name: 'recall',
      arguments: { handle, page: pages.length + 1 },
    });
    const [page = '', note = ''] = content.map((part) => (part.type === 'text' ? part.text : ''));
    pages.push(page);
    if (!note.includes('to go on')) return pages;
  }
}

/** The text under every handle in a text, and under those that stand in there. */
async function recallAll(client: Client, text: string) {
  const recalled = new Map<string, readonly string[]>();
  const texts = [text];
  for (const read of texts) {
    for (const [handle] of read.matchAll(/rf:[0-9a-f]{32}/g)) {
      if (recalled.has(handle)) continue;
      const pages = await recall(client, handle);
      recalled.set(handle, pages);
      texts.push(pages.join(''));
    }
  }
  return recalled;
}

/** What the messages of a list say, and what their results hold. */
function textsOf(messages: readonly Anthropic.MessageParam[]): readonly string[] {
  return messages.flatMap(({ content }) => {
    if (typeof content === 'string') return [content];
    return content.flatMap((block) => {
      if (block.type === 'text') return [block.text];
      return block.type === 'tool_result' && typeof block.content === 'string' ? [block.content] : [];
    });
  });
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
    const context = textsOf(sent).join('\n');
    const recalled = await recallAll(client, context);
    if (recalled.size === 0) throw new Error('the context holds no handle');
    const pages = [...recalled.values()].flat();
    const known = [context, ...[...recalled.values()].map((each) => each.join(''))].join('\n');
    const lost = textsOf(history).filter((text) => !known.includes(text));
    if (lost.length > 0) throw new Error(`${lost.length} texts can neither be read nor recalled`);
    return `${recalled.size} handles recalled in ${pages.length} pages, all ${history.length} messages found again`;
  } finally {
    await client.close();
    rmSync(folder, { recursive: true });
  }
});
