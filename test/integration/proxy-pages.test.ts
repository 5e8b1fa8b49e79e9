import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchangeRecord } from '../support/exchange-records.ts';
import { anthropicWorker, type Observed, startObserved, workUntilFolded } from '../support/observed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const SECRET = 'sk-ant-api03-do-not-tell';
const WINDOW = 16_000;

interface Detail {
  readonly id: string;
  readonly turnList: readonly {
    readonly checkpoint?: string;
    readonly isFold: boolean;
    readonly tokensSent: number;
  }[];
  readonly foldList: readonly {
    readonly id: string;
    readonly chain: string;
    readonly parent?: string;
    readonly boundary: number;
  }[];
  readonly wishes: { readonly foldedUpTo?: number; readonly pinned: readonly number[] };
}

interface Fold {
  readonly runs: readonly { readonly handle?: string; readonly start: number; readonly end: number }[];
  readonly parts: readonly { readonly kind: string; readonly text?: string }[];
  readonly survival: readonly object[];
}

let hidden: Observed;
let shown: Observed;

beforeAll(async () => {
  [hidden, shown] = await Promise.all([
    startObserved({ windowTokens: WINDOW }),
    startObserved({ windowTokens: WINDOW, showContent: true }),
  ]);
  for (const observed of [hidden, shown]) {
    const work = anthropicWorker(observed.proxy.url, SECRET);
    for (let turn = 0; turn < 60; turn++) await work(900);
    await observed.proxy.settle();
  }
});

afterAll(async () => {
  await Promise.all([hidden.close(), shown.close()]);
});

async function get<Value>(observed: Observed, path: string): Promise<Value> {
  const response = await fetch(`${observed.dashboard}api/${path}`);
  expect(response.status, path).toBe(200);
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(response.headers.get('cache-control')).toBe('no-store');
  return (await response.json()) as Value;
}

async function open(observed: Observed): Promise<Detail> {
  const { conversations } = await get<{ conversations: readonly { id: string }[] }>(
    observed,
    'conversations',
  );
  expect(conversations).toHaveLength(1);
  return get(observed, `conversations/${conversations[0]?.id}`);
}

const action = { 'x-roundfold-action': '1', 'content-type': 'application/json' };

function post(
  observed: Observed,
  path: string,
  body: object,
  headers: Record<string, string> = action,
): Promise<Response> {
  return fetch(`${observed.dashboard}api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe('the data of the dashboard', () => {
  it('tells of a conversation what the proxy did, under one name from its first message on', async () => {
    const detail = await open(hidden);

    expect(detail.turnList).toHaveLength(60);
    expect(detail.turnList.filter(({ isFold }) => isFold).length).toBeGreaterThan(1);
    expect(detail.turnList.every(({ tokensSent }) => tokensSent < WINDOW)).toBe(true);
    expect(detail.foldList.length).toBeGreaterThan(1);
    expect(detail.foldList.map(({ chain }) => chain)).toContain(detail.turnList.at(-1)?.checkpoint);
  });

  it('shows every message of a fold in its receipt once, and what can be read again', async () => {
    const { id, foldList } = await open(hidden);
    const newest = foldList.at(-1);
    const fold = await get<Fold>(hidden, `conversations/${id}/folds/${newest?.id}`);

    const places = fold.runs.flatMap(({ start, end }) =>
      Array.from({ length: end - start }, (_one, index) => start + index),
    );
    expect(places).toEqual(Array.from({ length: newest?.boundary ?? 0 }, (_one, index) => index));
    const handle = fold.runs.find((run) => run.handle !== undefined)?.handle;
    const messages = await get<readonly { tokens: number; role: string; text?: string }[]>(
      hidden,
      `conversations/${id}/handles/${encodeURIComponent(handle ?? '')}`,
    );
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.every(({ tokens, text }) => tokens > 0 && text === undefined)).toBe(true);
  });

  it('has no content unless it was asked for, and never a credential', async () => {
    const everything = async (observed: Observed) => {
      const detail = await open(observed);
      const folds = await Promise.all(
        detail.foldList.map(({ id }) => get<Fold>(observed, `conversations/${detail.id}/folds/${id}`)),
      );
      const handles = new Set(folds.flatMap(({ runs }) => runs.flatMap(({ handle }) => handle ?? [])));
      const left = await Promise.all(
        [...handles].map((handle) =>
          get<object>(observed, `conversations/${detail.id}/handles/${encodeURIComponent(handle)}`),
        ),
      );
      const rest = await Promise.all(
        ['conversations', 'money', 'health'].map((path) => get<object>(observed, path)),
      );
      const metrics = await (await fetch(`${observed.proxy.url}/metrics`)).text();
      return JSON.stringify([detail, folds, left, rest, metrics]);
    };
    const [without, withContent] = [await everything(hidden), await everything(shown)];

    expect(withContent).toContain('export const value');
    expect(without).not.toMatch(/export const|Read all files|careful agent|read_file|src\/file/);
    for (const text of [without, withContent]) expect(text).not.toContain('x-api-key');
    expect(without).not.toContain(SECRET);
  });

  it('tells money, health and metrics that agree with each other', async () => {
    const money = await get<{ sent: number; direct: number; turns: number }>(hidden, 'money');
    const health = await get<{ requests: number; compactions: { saved: number } }>(hidden, 'health');
    const metrics = await (await fetch(`${hidden.proxy.url}/metrics`)).text();

    expect(money).toMatchObject({ turns: 60 });
    expect(money.sent).toBeGreaterThan(0);
    expect(metrics).toContain(`roundfold_cost_usd_total{side="sent"} ${money.sent}\n`);
    expect(metrics).toContain(`roundfold_compactions_total{outcome="saved"} ${health.compactions.saved}\n`);
    expect(health.requests).toBe(60);
  });

  it.each([
    ['conversations/0000000000000000', 404],
    ['conversations/%2e%2e', 404],
    ['conversations/a/b/c/d', 404],
    ['nothing', 404],
    ['', 404],
  ])('answers %s with %i', async (path, status) => {
    const response = await fetch(`${hidden.dashboard}api/${path}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty('error.message');
  });

  it('gives no handle of one conversation to another', async () => {
    const { id, foldList } = await open(hidden);
    const fold = await get<Fold>(hidden, `conversations/${id}/folds/${foldList.at(-1)?.id}`);
    const handle = fold.runs.find((run) => run.handle !== undefined)?.handle ?? '';
    hidden.ledger.exchange(exchangeRecord({ tenant: 'other', conversation: 'other' }));
    const other = hidden.ledger.conversations().find((row) => row.id !== id)?.id;

    const response = await fetch(
      `${hidden.dashboard}api/conversations/${other}/handles/${encodeURIComponent(handle)}`,
    );
    expect(response.status).toBe(404);
  });
});

describe('live updates', () => {
  it('tell of changes within a moment, as server-sent events', async () => {
    const response = await fetch(`${shown.dashboard}api/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    let text = '';
    shown.ledger.exchange(exchangeRecord({ conversation: 'live', tenant: 'live', client: 'a\nclient' }));
    shown.ledger.exchange(exchangeRecord({ conversation: 'live', tenant: 'live' }));
    while (!text.includes('event: change')) text += (await reader.read()).value ?? '';
    while (!text.endsWith('\n\n')) text += (await reader.read()).value ?? '';
    await reader.cancel();

    const data = /^event: change\ndata: (.*)$/m.exec(text)?.[1] ?? '';
    expect(JSON.parse(data)).toMatchObject({ conversations: [{ turns: 2 }], totals: {}, health: {} });
  });

  it('end with the proxy, which waits for other answers', async () => {
    const observed = await startObserved({ windowTokens: WINDOW });
    const response = await fetch(`${observed.dashboard}api/events`);
    const rest = response.text();
    await observed.proxy.close({ drainMilliseconds: 3_600_000 });

    expect(await rest).toBe('retry: 1000\n\n');
    await observed.close();
  });

  it('are given to so many listeners and no more', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => fetch(`${hidden.dashboard}api/events`)),
    );
    const counts = answers.map(({ status }) => status).toSorted();
    await Promise.all(answers.map((answer) => answer.body?.cancel()));

    expect(counts.filter((status) => status === 200)).toHaveLength(32);
    expect(counts.filter((status) => status === 503)).toHaveLength(8);
  });
});

describe('actions', () => {
  it('undo the newest fold: the next request goes back to the one before, until it is used again', async () => {
    const observed = await startObserved({ windowTokens: WINDOW });
    try {
      const work = anthropicWorker(observed.proxy.url, 'sk-undo');
      for (let fold = 0; fold < 3; fold++) await workUntilFolded(observed, work);
      const before = await open(observed);
      const newest = before.foldList.find(({ chain }) => chain === before.turnList.at(-1)?.checkpoint);
      const parent = before.foldList.find(({ chain }) => chain === newest?.parent);
      expect(parent).toBeDefined();

      const answer = await post(observed, `conversations/${before.id}/undo`, { fold: newest?.id });
      expect(answer.status).toBe(200);
      await work(10);
      const undone = await open(observed);
      expect(undone.wishes.foldedUpTo).toBe(parent?.boundary);
      expect(undone.turnList.at(-1)?.checkpoint).toBe(parent?.chain);

      await post(observed, `conversations/${before.id}/redo`, {});
      await work(10);
      const redone = await open(observed);
      expect(redone.wishes.foldedUpTo).toBeUndefined();
      expect(redone.turnList.at(-1)?.checkpoint).toBe(newest?.chain);
    } finally {
      await observed.close();
    }
  });

  it('reach conversations that are folded in threads', async () => {
    const threadedStore = join(folder.path, 'store.sqlite');
    const observed = await startObserved({ windowTokens: 70_000, threadedStore });
    try {
      const work = anthropicWorker(observed.proxy.url, 'sk-thread');
      // Bodies from 64 kB on go to a thread.
      for (let fold = 0; fold < 2; fold++) await workUntilFolded(observed, () => work(6000));
      const { id, foldList, turnList } = await open(observed);
      const newest = foldList.find(({ chain }) => chain === turnList.at(-1)?.checkpoint);
      await post(observed, `conversations/${id}/undo`, { fold: newest?.id });
      await work(10);

      expect(newest?.parent).toBeDefined();
      expect((await open(observed)).turnList.at(-1)?.checkpoint).toBe(newest?.parent);
    } finally {
      await observed.close();
    }
  });

  it('pin a message that had left: what is sent has it word for word again', async () => {
    const observed = await startObserved({ windowTokens: WINDOW });
    try {
      const work = anthropicWorker(observed.proxy.url, 'sk-pin');
      for (let turn = 0; turn < 40; turn++) await work(900);
      await observed.proxy.settle();
      const { id } = await open(observed);
      // The result of the third call stands behind question, call, result, call, result and call.
      const place = 6;
      const result = 'src/file-3-0.ts';
      const isWhole = () =>
        JSON.stringify(observed.simulator.requests.at(-1)?.body)
          .replaceAll('\\', '')
          .includes(`compute('{"path":"${result}`);
      expect(isWhole()).toBe(false);

      expect((await post(observed, `conversations/${id}/pin`, { place })).status).toBe(200);
      for (let turn = 0; turn < 3; turn++) {
        await work(10);
        await observed.proxy.settle();
      }
      expect((await open(observed)).wishes.pinned).toEqual([place]);
      expect(isWhole()).toBe(true);

      expect((await post(observed, `conversations/${id}/unpin`, { place })).status).toBe(200);
      await work(10);
      expect(isWhole()).toBe(false);
    } finally {
      await observed.close();
    }
  });

  it('are taken from the page where a TLS server in front serves it under a listed name, and from no other', async () => {
    const observed = await startObserved({ windowTokens: WINDOW, hosts: ['proxy.example'] });
    try {
      const work = anthropicWorker(observed.proxy.url, 'sk-front');
      for (let turn = 0; turn < 40; turn++) await work(900);
      const { id } = await open(observed);
      const pin = (host: string, origin: string) =>
        rawPost(
          `${observed.dashboard}api/conversations/${id}/pin`,
          { place: 1 },
          { ...action, host, origin, 'sec-fetch-site': 'same-origin' },
        );
      expect(await pin('proxy.example', 'https://evil.example')).toBe(403);
      expect(await pin('127.0.0.1', 'https://127.0.0.1')).toBe(403);
      expect((await open(observed)).wishes.pinned).toEqual([]);
      expect(await pin('proxy.example', 'https://proxy.example')).toBe(200);
      expect((await open(observed)).wishes.pinned).toEqual([1]);
    } finally {
      await observed.close();
    }
  });

  it.each([
    ['no header', {}],
    ['another origin', { ...action, origin: 'http://evil.example' }],
    ['another site', { ...action, 'sec-fetch-site': 'cross-site' }],
    ['a sandboxed page', { ...action, origin: 'null' }],
  ])('are refused with %s, and nothing has changed', async (_what, headers) => {
    const id = hidden.ledger.conversations().find(({ turns }) => turns === 60)?.id;
    const { foldList } = await get<Detail>(hidden, `conversations/${id}`);
    const fold = foldList.at(-1)?.id;
    const status = await rawPost(`${hidden.dashboard}api/conversations/${id}/undo`, { fold }, headers);

    expect((await get<Detail>(hidden, `conversations/${id}`)).wishes).toEqual({ pinned: [] });
    expect(status).toBe(403);
  });

  it.each([
    ['undo', { fold: 'no-such-fold' }],
    ['undo', {}],
    ['pin', { place: -1 }],
    ['pin', { place: 1.5 }],
    ['pin', { place: '3' }],
    ['explode', {}],
    ['__proto__', {}],
  ])('%s %o is refused with 400', async (name, body) => {
    const id = hidden.ledger.conversations()[0]?.id;
    expect((await post(hidden, `conversations/${id}/${name}`, body)).status).toBe(400);
  });

  it('refuse bodies that are long or no object, and other methods', async () => {
    const id = hidden.ledger.conversations()[0]?.id;
    const path = `${hidden.dashboard}api/conversations/${id}/pin`;
    for (const body of ['x'.repeat(5000), '[]', '{'])
      expect((await fetch(path, { method: 'POST', headers: action, body })).status).toBe(400);
    expect((await fetch(`${hidden.dashboard}api/events`, { method: 'POST' })).status).toBe(405);
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect((await fetch(path, { method, headers: action })).status).toBe(405);
  });
});

describe('a token', () => {
  const token = 'a token that nobody guesses';
  const basic = (password: string) => `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;

  it('is asked for as a password, which browsers and Prometheus can give', async () => {
    const observed = await startObserved({ windowTokens: WINDOW, token });
    try {
      const status = async (url: string, authorization?: string) => {
        const response = await fetch(url, authorization === undefined ? {} : { headers: { authorization } });
        await response.body?.cancel();
        return [response.status, response.headers.get('www-authenticate')?.split(' ')[0]];
      };
      const { url } = observed.proxy;
      for (const page of [observed.dashboard, `${observed.dashboard}api/health`, `${url}/metrics`]) {
        expect(await status(page)).toEqual([401, 'Basic']);
        expect(await status(page, basic('wrong'))).toEqual([401, 'Basic']);
        expect(await status(page, `Bearer ${token}`)).toEqual([401, 'Basic']);
        expect(await status(page, basic(token))).toEqual([200, undefined]);
      }
      // Elsewhere the header is the client's own credential for its provider.
      expect(await status(`${url}/v1/models`, basic(token))).toEqual([401, undefined]);
    } finally {
      await observed.close();
    }
  });
});

describe('the page', () => {
  it('allows its own script and style by their hashes, and nothing else', async () => {
    const response = await fetch(hidden.dashboard);
    const text = await response.text();

    expect(response.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text)?.[1];
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'$/,
    );
    expect(text).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/);
  });

  it('is found without the slash at its end, and is one file', async () => {
    const response = await fetch(hidden.dashboard.slice(0, -1), { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([308, '/roundfold/']);
    expect((await fetch(`${hidden.dashboard}style.css`)).status).toBe(404);
    expect((await fetch(hidden.dashboard, { method: 'POST' })).status).toBe(405);
  });
});

/** `fetch` sets some headers itself. */
function rawPost(url: string, body: object, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}
