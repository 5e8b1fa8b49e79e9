import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { withRoundfold } from '../../src/proxy/fetch.ts';
import { type ProxyOptions, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { type Proxied, resultText, startProxied } from '../support/proxied.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';

type Item = OpenAI.Responses.ResponseInputItem;

const running: Proxied[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

async function start(options: Partial<ProxyOptions> = {}) {
  const proxied = await startProxied({}, { answerCompactions: true, ...options });
  running.push(proxied);
  const client = new OpenAI({ apiKey: 'k', baseURL: `${proxied.proxy.url}/v1`, maxRetries: 0 });
  return { ...proxied, client };
}

const DEMAND = 'Read all files and report. Never touch the file LICENSE.';
const model = 'gpt-5';

/** A task with so many rounds behind it. */
function worked(rounds: number): Item[] {
  return [
    { type: 'message', role: 'developer', content: 'You are a careful agent.' },
    { role: 'user', content: DEMAND },
    ...Array.from({ length: rounds }, (_, round): Item[] => [
      {
        type: 'function_call',
        call_id: `call_${round}`,
        name: 'read_file',
        arguments: `{"path":"src/part-${round}.ts"}`,
      },
      { type: 'function_call_output', call_id: `call_${round}`, output: resultText(`part ${round}`, 3000) },
    ]).flat(),
    { role: 'assistant', content: 'Part 7 holds the bug: its counter starts at 2.' },
  ];
}

describe('a compaction that the upstream does not know, answered here', () => {
  it('at /responses/compact: the user’s messages and one item, with which the conversation goes on', async () => {
    const { client, simulator, records } = await start();
    const compacted = await client.responses.compact({ model, input: worked(12) });
    expect(compacted.object).toBe('response.compaction');
    const { output } = compacted;
    expect(output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
    expect(JSON.stringify(output[1])).toContain(DEMAND);
    expect(JSON.stringify(output).length).toBeLessThan(JSON.stringify(worked(12)).length / 2);
    expect(simulator.requests).toEqual([]);
    expect(records).toMatchObject([{ kind: 'compact', status: 'passed', reason: 'compaction-answered' }]);

    const goesOn = [...(output as Item[]), { role: 'user' as const, content: 'Which part was it?' }];
    const answer = await client.responses.create({ model, input: goesOn });
    expect(answer.status).toBe('completed');
    const [sent] = simulator.requests;
    const text = JSON.stringify(sent?.body);
    expect(sent?.status).toBe(200);
    expect(text).not.toContain('"compaction"');
    expect(text).toContain('its counter starts at 2');
    expect(text).toContain('Which part was it?');
  });

  it('by a trigger at the end of a request, streamed and whole', async () => {
    const { client, simulator } = await start();
    const input = [...worked(12), { type: 'compaction_trigger' } as unknown as Item];
    const whole = await client.responses.create({ model, input });
    const streamed = await client.responses.stream({ model, input }).finalResponse();
    for (const { status, output } of [whole, streamed]) {
      expect(status).toBe('completed');
      expect(output.map(({ type }) => type)).toEqual(['compaction']);
    }
    expect(streamed.output).toEqual(whole.output);
    expect(simulator.requests).toEqual([]);
  });

  it('carries an earlier one on', async () => {
    const { client } = await start();
    const first = await client.responses.compact({ model, input: worked(12) });
    const more: Item[] = [
      ...(first.output as Item[]),
      { role: 'user', content: 'Now write docs/end.md about it.' },
      { role: 'assistant', content: 'I have written docs/end.md.' },
    ];
    const second = await client.responses.compact({ model, input: more });
    expect(second.output.filter(({ type }) => type === 'compaction').length).toBe(1);
    const item = JSON.stringify(second.output.at(-1));
    expect(item).toContain('its counter starts at 2');
    expect(item).toContain('docs/end.md');
  });

  it('becomes a message on its way to the provider, and every byte around it stays', async () => {
    const upstream = await startRecordingUpstream((_request, response) => void response.end('{}'));
    const proxy = await startProxy({ store: memoryStore(), upstreams: [{ url: upstream.url }] });
    const { client } = await start();
    const { output } = await client.responses.compact({ model, input: worked(12) });
    const odd = '{ "role":"user",\t"content":"1.0 caf\\u00e9 \\/" }';
    const send = async (item: unknown) => {
      const body = `{ "model" : "gpt-5" , "input":[${JSON.stringify(item)},${odd} ],"top_p":1.0}`;
      await fetch(`${proxy.url}/v1/responses`, { method: 'POST', body });
      return { body, sent: upstream.requests.at(-1)!.body.toString() };
    };
    const { sent } = await send(output.at(-1));
    expect(sent.startsWith('{ "model" : "gpt-5" , "input":[{"type":"message","role":"user"')).toBe(true);
    expect(sent.endsWith(`,${odd}],"top_p":1.0}`)).toBe(true);
    expect(upstream.requests.at(-1)!.header('content-length')).toBe(`${Buffer.byteLength(sent)}`);
    // Whatever a provider has made is not ours to read.
    const foreign = await send({
      type: 'compaction',
      id: 'cmp_1',
      encrypted_content: 'gAAAA~roundfold-memory~1:',
    });
    expect(foreign.sent).toBe(foreign.body);
    await proxy.close();
    await upstream.close();
  });

  it('is folded like any other message when the conversation outgrows its window, by the proxy and by a wrapped fetch', async () => {
    const { client, proxy, simulator, records } = await start({ windowTokens: 16_000 });
    const { output } = await client.responses.compact({ model, input: worked(12) });
    const input = output as Item[];
    const wrapped = new OpenAI({
      apiKey: 'k',
      baseURL: `${simulator.url}/v1`,
      maxRetries: 0,
      fetch: withRoundfold(fetch, { windowTokens: 16_000 }),
    });
    for (let turn = 1; turn <= 40; turn++) {
      input.push({ role: 'user', content: `Look at area ${turn}. ${resultText(`area ${turn}`, 2500)}` });
      for (const each of [client, wrapped])
        await each.responses.create({ model, input, max_output_tokens: 500 });
      input.push({ role: 'assistant', content: `Area ${turn} is in order.` });
      await proxy.settle();
    }
    expect(simulator.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(records.at(-1)?.status).toBe('folded');
    for (const { body } of simulator.requests.slice(-2)) {
      const sent = JSON.stringify(body);
      expect(sent).not.toContain('"compaction"');
      expect(sent).toContain('Never touch the file LICENSE');
      expect(sent).not.toContain('part 3, 51');
    }
  });

  it('is not, where the history is with the provider or there is none: that is said', async () => {
    const { client, simulator } = await start();
    const compact = (body: object) => client.responses.compact({ model, ...body });
    await expect(compact({ previous_response_id: 'resp_1' })).rejects.toThrow(
      'the history is with the provider',
    );
    await expect(compact({ input: [] })).rejects.toThrow('there is nothing to compact');
    expect(simulator.requests).toEqual([]);
  });

  it.each<[string, Partial<ProxyOptions>, Record<string, string>]>([
    ['by default', { answerCompactions: undefined }, {}],
    ['when the proxy only observes', { mode: 'observe' }, {}],
    ['with the bypass header', {}, { 'x-roundfold-bypass': '1' }],
  ])('is not, %s: the provider is asked', async (_when, options, headers) => {
    const { client, simulator } = await start(options);
    const compacted = await client.responses.compact({ model, input: worked(3) }, { headers });
    expect(compacted.output.at(-1)?.type).toBe('compaction');
    const input = [...worked(3), { type: 'compaction_trigger' } as unknown as Item];
    await client.responses.create({ model, input }, { headers });
    expect(simulator.requests.map(({ status }) => status)).toEqual([200, 200]);
    expect(simulator.requests.every(({ body }) => JSON.stringify(body).includes('part-2'))).toBe(true);
  });
});
