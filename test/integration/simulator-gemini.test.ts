import { type Content, GoogleGenAI, Type } from '@google/genai';
import { afterEach, describe, expect, it } from 'vitest';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { fixtureTitle } from '../fixtures/wire/fixture.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';

const running: Simulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(options: SimulatorOptions = {}) {
  const simulator = await startSimulator(options);
  running.push(simulator);
  const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: simulator.url } });
  return { simulator, client };
}

const tools = [
  {
    functionDeclarations: [
      {
        name: 'tides',
        description: 'The tides of a harbour.',
        parameters: {
          type: Type.OBJECT,
          properties: { harbour: { type: Type.STRING }, days: { type: Type.INTEGER } },
          required: ['harbour', 'days'],
        },
      },
    ],
  },
];
const question: Content = { role: 'user', parts: [{ text: 'Which tides has Brest?' }] };

/** Plays a conversation to its end as an agent does with the SDK. */
async function converse(client: GoogleGenAI, model: string, isStreamed: boolean) {
  const contents: Content[] = [question];
  for (let round = 0; round < 8; round++) {
    const parts = isStreamed
      ? await streamedParts(client, model, contents)
      : ((await client.models.generateContent({ model, contents, config: { tools } })).candidates?.[0]
          ?.content?.parts ?? []);
    contents.push({ role: 'model', parts });
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return contents;
    contents.push({
      role: 'user',
      parts: calls.map(({ id, name }) => ({
        functionResponse: {
          ...(id === undefined ? {} : { id }),
          name: name ?? '',
          response: { output: 'six' },
        },
      })),
    });
  }
  throw new Error('never ended');
}

async function streamedParts(client: GoogleGenAI, model: string, contents: Content[]) {
  const parts = [];
  for await (const chunk of await client.models.generateContentStream({
    model,
    contents,
    config: { tools },
  })) {
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
  }
  return parts;
}

describe('the Gemini endpoint', () => {
  it.each([
    { model: 'gemini-2.5-pro', isStreamed: false },
    { model: 'gemini-2.5-pro', isStreamed: true },
    { model: 'gemini-3.1-pro', isStreamed: false },
    { model: 'gemini-3.1-pro', isStreamed: true },
  ])(
    'plays an agent with calls, parallel calls and signatures: $model, streamed $isStreamed',
    async (given) => {
      const { simulator, client } = await start();
      const contents = await converse(client, given.model, given.isStreamed);
      const calls = contents.map(({ parts = [] }) => parts.filter(({ functionCall }) => functionCall).length);
      expect(Math.max(...calls)).toBe(2);
      const first = contents[1]?.parts?.find(({ functionCall }) => functionCall);
      expect(first?.functionCall).toMatchObject({
        name: 'tides',
        args: { harbour: 'example harbour', days: 1 },
      });
      expect(first?.functionCall?.id === undefined).toBe(given.model === 'gemini-2.5-pro');
      expect(first?.thoughtSignature).toEqual(expect.any(String));
      const last = contents
        .at(-1)
        ?.parts?.map(({ text }) => text ?? '')
        .join('');
      expect(last).toMatch(/^Done after 4 results/);
      expect(simulator.requests.map(({ status, model, format }) => [status, model, format])).toEqual(
        simulator.requests.map(() => [200, given.model, 'gemini']),
      );
    },
  );

  it('reports usage that adds up, reads a repeated prompt from its cache, and shows thoughts when asked', async () => {
    const { client } = await start();
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'The tides of Brest. '.repeat(800) }] }];
    const config = { thinkingConfig: { includeThoughts: true } };
    const ask = () => client.models.generateContent({ model: 'gemini-2.5-pro', contents, config });
    const first = await ask();
    const second = await ask();
    const usage = first.usageMetadata;
    expect(usage?.totalTokenCount).toBe(
      (usage?.promptTokenCount ?? 0) + (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    );
    expect(usage?.cachedContentTokenCount).toBeUndefined();
    expect(second.usageMetadata?.cachedContentTokenCount).toBeGreaterThan(1024);
    expect(first.candidates?.[0]?.content?.parts?.[0]?.thought).toBe(true);
    expect(first.text).toMatch(/^Done after 0 results/);
  });

  it('counts the tokens that it would charge', async () => {
    const { client } = await start();
    const { totalTokens } = await client.models.countTokens({
      model: 'gemini-2.5-pro',
      contents: [question],
    });
    const answer = await client.models.generateContent({ model: 'gemini-2.5-pro', contents: [question] });
    expect(totalTokens).toBe(answer.usageMetadata?.promptTokenCount);
  });

  it('lists its models with their windows, and says of an unknown one that it is unknown', async () => {
    const { client } = await start();
    const { inputTokenLimit } = await client.models.get({ model: 'gemini-2.5-pro' });
    expect(inputTokenLimit).toBe(1_048_576);
    const listed = [];
    for await (const { name } of await client.models.list()) listed.push(name);
    expect(listed).toContain('models/gemini-2.5-pro');
    await expect(client.models.get({ model: 'gemini-none' })).rejects.toMatchObject({ status: 404 });
  });

  it("refuses a prompt that is too long in Google's words, with numbers that can be read", async () => {
    const { client, simulator } = await start({ windowTokens: 100 });
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'The tides of Brest. '.repeat(80) }] }];
    const refused = client.models.generateContent({ model: 'gemini-2.5-pro', contents });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('exceeds the maximum number of tokens allowed (100)'),
    });
    const error = await refused.catch((reason: unknown) => reason as Error & { status: number });
    const overflow = parseOverflow({ status: 400, body: JSON.parse((error as Error).message) });
    expect(overflow).toMatchObject({
      limitTokens: 100,
      actualTokens: simulator.requests[0]?.promptTokens,
    });
  });

  it.each([
    {
      title: 'a call lost its signature',
      rule: 'thought-signature-missing',
      change: { thoughtSignature: undefined },
    },
    {
      title: 'a signature was made up',
      rule: 'thought-signature-invalid',
      change: { thoughtSignature: 'c2ln' },
    },
    {
      title: 'a signature stands on another call',
      rule: 'thought-signature-invalid',
      change: { functionCall: { name: 'tides', args: { harbour: 'Cadiz' } } },
    },
  ])('refuses a request of which $title', async ({ rule, change }) => {
    const { simulator, client } = await start();
    const model = 'gemini-3.1-pro';
    const contents = (await converse(client, model, false)).slice(0, 3);
    const [asked, called, answered] = contents;
    const parts = called?.parts?.map((part) => (part.functionCall ? { ...part, ...change } : part)) ?? [];
    const changed = [asked, { ...called, parts }, answered] as Content[];
    await expect(
      client.models.generateContent({ model, contents: changed, config: { tools } }),
    ).rejects.toMatchObject({ status: 400 });
    expect(simulator.requests.at(-1)?.rule).toBe(rule);
  });

  it('refuses the signature of another model, and takes the documented bypass', async () => {
    const { client } = await start();
    const contents = (await converse(client, 'gemini-3.1-pro', false)).slice(0, 3);
    const ask = (sent: Content[]) =>
      client.models.generateContent({ model: 'gemini-3.8-flash', contents: sent, config: { tools } });
    await expect(ask(contents)).rejects.toMatchObject({
      message: expect.stringContaining('Invalid thought'),
    });
    const bypassed = contents.map((content) => ({
      ...content,
      parts: content.parts?.map((part) =>
        part.thoughtSignature ? { ...part, thoughtSignature: 'skip_thought_signature_validator' } : part,
      ),
    })) as Content[];
    expect((await ask(bypassed)).candidates).toHaveLength(1);
  });

  it('streams a JSON list without alt=sse, and takes its key from the query without keeping it', async () => {
    const { simulator } = await start();
    const response = await fetch(
      `${simulator.url}/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=secret-key`,
      { method: 'POST', body: JSON.stringify({ contents: [question] }) },
    );
    const chunks = (await response.json()) as readonly object[];
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] });
    expect(JSON.stringify(simulator.requests)).not.toContain('secret-key');
  });

  it.each([
    { title: 'without a key', path: ':generateContent', headers: {}, status: 403, name: 'PERMISSION_DENIED' },
    {
      title: 'of an unknown method',
      path: ':dream',
      headers: { 'x-goog-api-key': 'any' },
      status: 404,
      name: 'NOT_FOUND',
    },
  ])('a request $title is refused in the shape of Google', async ({ path, headers, status, name }) => {
    const { simulator } = await start();
    const response = await fetch(`${simulator.url}/v1beta/models/gemini-2.5-pro${path}`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: JSON.stringify({ contents: [question] }),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: status, status: name } });
  });

  /** Fixtures that a request can carry: nothing is known about them but the model, and no seal is somebody else's. */
  const fixtures = (fixtureLists.get('gemini') ?? []).filter(
    ({ body, context = {} }) =>
      Object.entries(context).every(([name, value]) => name === 'model' || value === undefined) &&
      !/"thought_?signature"/i.test(JSON.stringify(body)) &&
      !/"cached_?content"/i.test(JSON.stringify(body)),
  );

  it.each(fixtures.map((fixture) => [fixtureTitle(fixture), fixture] as const))(
    'judges a body as its contract does: %s',
    async (_title, { body, context, verdict, wording, before }) => {
      const { simulator } = await start();
      const response = await fetch(
        `${simulator.url}/v1beta/models/${context?.model ?? 'gemini-2.5-pro'}:generateContent`,
        { method: 'POST', headers: { 'x-goog-api-key': 'any' }, body: JSON.stringify(body) },
      );
      const answer = (await response.json()) as { readonly error?: { readonly message: string } };
      expect(response.status, JSON.stringify(answer)).toBe(verdict === 'valid' ? 200 : 400);
      if (wording !== undefined && before === undefined) expect(answer.error?.message).toBe(wording);
    },
  );

  it('answers a fault with the status that Google has for it', async () => {
    const { simulator } = await start({ faults: [{ name: 'overloaded' }] });
    const response = await fetch(`${simulator.url}/v1beta/models/gemini-2.5-pro:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'any' },
      body: JSON.stringify({ contents: [question] }),
    });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { status: 'UNAVAILABLE' } });
  });
});
