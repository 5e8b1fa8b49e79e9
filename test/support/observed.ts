import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Summarizer } from '../../src/memory/summary-request.ts';
import type { Ledger } from '../../src/proxy/observe/ledger.ts';
import { createObservation } from '../../src/proxy/observe/observation.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { type Proxied, resultText, startProxied, untilResults } from './proxied.ts';

/** A proxy with its ledger and its pages, in front of a provider. */
export interface Observed extends Proxied {
  readonly ledger: Ledger;
  /** Address of the dashboard. */
  readonly dashboard: string;
}

export interface ObservedOptions {
  readonly windowTokens: number;
  /** Share of the window at which a fold is due. Default: the proxy's own. */
  readonly trigger?: number;
  /** How the provider counts. Default: as we estimate. */
  readonly countTokens?: SimulatorOptions['countTokens'];
  readonly showContent?: boolean;
  readonly token?: string;
  /** Further names that the proxy may be called by. */
  readonly hosts?: readonly string[];
  /** Default: any free one. */
  readonly port?: number;
  /** Writes the memories. Default: our own. */
  readonly summarizer?: Summarizer;
  /** File of a store, for a proxy that folds in threads. Default: a store in memory, and none. */
  readonly threadedStore?: string;
}

export async function startObserved(options: ObservedOptions): Promise<Observed> {
  const { windowTokens, showContent, trigger, countTokens, token, port } = options;
  const { threadedStore, hosts, summarizer } = options;
  const store = threadedStore === undefined ? memoryStore() : sqliteStore({ path: threadedStore });
  const threads = threadedStore === undefined ? undefined : { address: threadedStore };
  const { observer, pages, wishesOf, ledger } = await createObservation({ store, showContent });
  const proxied = await startProxied(
    { windowTokens: windowTokens * 2, countTokens, script: untilResults(10_000) },
    { store, token, hosts, port, threads, windowTokens, trigger, summarizer, observer, wishesOf, pages },
  );
  return { ...proxied, ledger, dashboard: `${proxied.proxy.url}/roundfold/` };
}

/** An agent at work: each call is one turn with a tool result of the given size. */
export type Worker = (characters?: number) => Promise<void>;

const parameters = {
  type: 'object' as const,
  properties: { path: { type: 'string' } },
  required: ['path'],
};

/** Marks the end of its prompt for the cache, as coding agents do. */
export function anthropicWorker(
  url: string,
  apiKey: string,
  agent = 'claude-cli/2.1.0 (external, cli)',
): Worker {
  const client = new Anthropic({
    baseURL: url,
    apiKey,
    maxRetries: 0,
    defaultHeaders: { 'user-agent': agent },
  });
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: `Read all files and report, says ${apiKey}.` },
  ];
  return async (characters = 1200) => {
    const answer = await client.messages
      .stream({
        model: 'claude-sonnet-4-6',
        max_tokens: 2000,
        cache_control: { type: 'ephemeral' },
        system: [{ type: 'text', text: 'You are a careful agent. '.repeat(60) }],
        tools: [{ name: 'read_file', description: 'Reads a file.', input_schema: parameters }],
        messages,
      })
      .finalMessage();
    messages.push({ role: 'assistant', content: answer.content });
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    messages.push({
      role: 'user',
      content: calls.map(({ id, input }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: resultText(JSON.stringify(input), characters),
      })),
    });
  };
}

export function chatWorker(url: string, apiKey: string): Worker {
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey,
    maxRetries: 0,
    defaultHeaders: { 'user-agent': 'opencode/1.18' },
  });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are a careful agent. '.repeat(60) },
    { role: 'user', content: `Read all files and report, says ${apiKey}.` },
  ];
  return async (characters = 1200) => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4.1',
      tools: [
        { type: 'function', function: { name: 'read_file', description: 'Reads a file.', parameters } },
      ],
      messages,
    });
    const message = answer.choices[0]?.message;
    if (message === undefined) throw new Error('no answer');
    messages.push(message);
    for (const call of message.tool_calls ?? [])
      messages.push({ role: 'tool', tool_call_id: call.id, content: resultText(call.id, characters) });
  };
}

/** Works until a new fold has just come into use: the one before it would still fit. */
export async function workUntilFolded(observed: Observed, work: Worker, id?: string): Promise<void> {
  const { ledger, proxy } = observed;
  const used = () => ledger.turns(id ?? ledger.conversations()[0]?.id ?? '').at(-1)?.checkpoint;
  const before = used();
  for (let turn = 0; turn < 200; turn++) {
    await work(900);
    await proxy.settle();
    if (used() !== before) return;
  }
  throw new Error('200 turns and no fold');
}
