import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'headless_shell'];

/** The browser of this machine: what `ROUNDFOLD_CHROMIUM` names, or the first one on the path. */
export const chromiumPath: string | undefined = [
  process.env['ROUNDFOLD_CHROMIUM'] ?? '',
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name))),
].find((path) => path !== '' && existsSync(path));

/** Said by every test that cannot run without it. */
export const chromiumIsMissing =
  'no Chromium here (Debian: apt-get install chromium; ROUNDFOLD_CHROMIUM names it elsewhere)';

/** How a page is looked at. */
export interface View {
  readonly width: number;
  readonly colours: 'light' | 'dark';
}

/** A page that is open in the browser. */
export interface OpenPage {
  /** Everything the page complained about: errors, warnings, breaches of its policy. */
  readonly complaints: readonly string[];
  /** Every address it asked for, its own left out. */
  readonly requests: readonly string[];
  /** The value of an expression in the page, or what it promises. */
  evaluate<Value>(expression: string): Promise<Value>;
  press(key: 'Tab' | 'Enter' | 'Escape' | 'j' | 'k'): Promise<void>;
  /** The page as PNG: the whole of it, or so many pixels from so many below its top. */
  screenshot(part?: { readonly top: number; readonly height: number }): Promise<Buffer>;
  close(): Promise<void>;
}

export interface Browser {
  open(url: string, view: View): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Only what the page itself does shall be seen: no updates, no look-ups of the browser's own. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
  '--remote-debugging-pipe',
];

/** Starts a browser with a profile of its own, driven over a pipe. */
export function startChromium(path: string): Browser {
  const profile = mkdtempSync(join(tmpdir(), 'roundfold-chromium-'));
  const child = spawn(path, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const wire = openWire(child);
  return {
    open: (url, view) => openPage(wire, url, view),
    async close() {
      const ended = new Promise((done) => child.once('close', done));
      await wire.send('Browser.close', {}).catch(() => child.kill());
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

interface Incoming {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Values;
  readonly result?: Values;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

/** The browser's debugging protocol: JSON between zero bytes. */
interface Wire {
  send(method: string, params: Values, sessionId?: string): Promise<Values>;
  listen(sessionId: string, hear: (method: string, params: Values) => void): void;
}

function openWire(child: ChildProcess): Wire {
  const output = child.stdio[3] as Writable;
  const input = child.stdio[4] as Readable;
  const waiting = new Map<number, { done(result: Values): void; fail(error: Error): void }>();
  const listeners = new Map<string, (method: string, params: Values) => void>();
  let lastId = 0;
  let rest = Buffer.alloc(0);

  const take = (message: Incoming) => {
    if (message.id === undefined) {
      listeners.get(message.sessionId ?? '')?.(message.method ?? '', message.params ?? {});
      return;
    }
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) caller?.done(message.result ?? {});
    else caller?.fail(new Error(message.error.message));
  };
  input.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const text = rest.subarray(0, end).toString('utf8');
      rest = rest.subarray(end + 1);
      take(JSON.parse(text) as Incoming);
    }
  });
  output.on('error', () => undefined);
  child.on('error', (cause) => failAll(new Error('the browser did not start', { cause })));
  child.on('close', () => failAll(new Error('the browser has ended')));
  const failAll = (error: Error) => {
    for (const { fail } of waiting.values()) fail(error);
    waiting.clear();
  };
  return {
    send: (method, params, sessionId) =>
      new Promise((done, fail) => {
        const id = ++lastId;
        waiting.set(id, { done, fail });
        output.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
      }),
    listen: (sessionId, hear) => void listeners.set(sessionId, hear),
  };
}

async function openPage(wire: Wire, url: string, { width, colours }: View): Promise<OpenPage> {
  const { targetId } = await wire.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await wire.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: Values = {}) => wire.send(method, params, String(sessionId));
  const complaints: string[] = [];
  const requests: string[] = [];
  let loaded: () => void = () => undefined;
  const load = new Promise<void>((done) => {
    loaded = done;
  });
  wire.listen(String(sessionId), (method, params) => {
    if (COMPLAINTS.has(method)) complaints.push(JSON.stringify(params));
    if (method === 'Network.requestWillBeSent') {
      const { request } = params as { readonly request: { readonly url: string } };
      if (request.url !== url) requests.push(request.url);
    }
    if (method === 'Page.loadEventFired') loaded();
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Audits']) await send(`${domain}.enable`);
  await send('Emulation.setDeviceMetricsOverride', {
    width,
    height: 900,
    deviceScaleFactor: 1,
    mobile: false,
  });
  await send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: colours }],
  });
  const { errorText } = await send('Page.navigate', { url });
  if (errorText !== undefined) throw new Error(`${url} cannot be opened: ${String(errorText)}`);
  await load;
  return {
    complaints,
    requests,
    async evaluate<Value>(expression: string) {
      const { result } = await send('Runtime.evaluate', {
        expression,
        returnByValue: true,
        awaitPromise: true,
      });
      return (result as { readonly value: Value }).value;
    },
    async press(key) {
      const { code, text } = KEYS[key];
      const event = { key, code: key, windowsVirtualKeyCode: code, ...(text !== undefined && { text }) };
      await send('Input.dispatchKeyEvent', { type: text === undefined ? 'rawKeyDown' : 'keyDown', ...event });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    async screenshot(part) {
      const clip = part && { clip: { x: 0, y: part.top, width, height: part.height, scale: 1 } };
      const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true, ...clip });
      return Buffer.from(String(data), 'base64');
    },
    close: async () => void (await wire.send('Target.closeTarget', { targetId })),
  };
}

/** What a keyboard sends for a key, and what it types. */
const KEYS: Readonly<
  Record<Parameters<OpenPage['press']>[0], { readonly code: number; readonly text?: string }>
> = {
  Tab: { code: 9 },
  Enter: { code: 13, text: '\r' },
  Escape: { code: 27 },
  j: { code: 74, text: 'j' },
  k: { code: 75, text: 'k' },
};

const COMPLAINTS = new Set([
  'Runtime.exceptionThrown',
  'Runtime.consoleAPICalled',
  'Log.entryAdded',
  'Audits.issueAdded',
]);
