import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../../conversation/json.ts';
import type { ConversationKey, ConversationWishes, Store, Wishes } from '../../stores/store.ts';
import type { ConversationRow } from './account.ts';
import { EXPOSITION_TYPE, writeExposition } from './exposition.ts';
import { type FoldSource, listFolds, nameOfFolded, readFold, readHandle, undoFold } from './fold-view.ts';
import type { Ledger } from './ledger.ts';
import { createLiveUpdates, type LiveUpdates } from './live.ts';
import { loadPage } from './page-file.ts';
import type { WishBook } from './wishes.ts';

export interface PageOptions {
  readonly store: Store;
  /** Takes undone folds and pins. Without it, nothing can be changed from the page. */
  readonly wishes?: WishBook | undefined;
  /** Whether texts of messages and memories are shown. Default false. */
  readonly showContent?: boolean | undefined;
}

/** Answers requests for pages of the proxy's own; whether it did. */
type Pages = ((request: IncomingMessage, response: ServerResponse) => Promise<boolean>) & {
  /** Lets pages go that listen. */
  close(): void;
};

/** A header that no page of another origin can send without asking first, and nobody answers such questions here. */
const ACTION_HEADER = 'x-roundfold-action';

const LONGEST_BODY = 4096;

const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The page says itself, by hashes, which script and style it has. */
const PAGE_HEADERS = {
  ...SAFE_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "frame-ancestors 'none'",
} as const;

/** What a request is answered with. */
interface Answer {
  readonly status: number;
  readonly value: object;
}

/** The dashboard, its data and the metrics: `/roundfold/`, `/roundfold/api/…` and `/metrics`. */
export function createPages(ledger: Ledger, options: PageOptions): Pages {
  const desk = new Desk(ledger, options);
  const live = createLiveUpdates(ledger, { describe: (ids) => desk.changes(ids) });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    if (path !== '/metrics' && path !== '/roundfold' && !path.startsWith('/roundfold/')) return false;
    try {
      await answer(desk, live, { request, response, path });
    } catch {
      // Most likely the store: what it says may hold an address or a path.
      if (!response.headersSent) send(response, fault(500, 'the store did not answer'));
      else response.destroy();
    }
    return true;
  };
  return Object.assign(handle, { close: () => live.close() });
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
}

async function answer(desk: Desk, live: LiveUpdates, call: Call): Promise<void> {
  const { request, response, path } = call;
  if (path === '/roundfold') {
    response.writeHead(308, { ...SAFE_HEADERS, location: '/roundfold/' }).end();
  } else if (path === '/roundfold/api/events') {
    if (request.method !== 'GET') send(response, fault(405, 'only GET here'));
    else if (!live.connect(response)) send(response, fault(503, 'too many pages listen already'));
  } else if (path.startsWith('/roundfold/api/')) {
    const steps = path.slice('/roundfold/api/'.length).split('/').map(decoded);
    send(response, isReading(request) ? await desk.read(steps) : await act(desk, request, steps));
  } else answerText(desk, call);
}

function answerText(desk: Desk, { request, response, path }: Call): void {
  if (!isReading(request)) send(response, fault(405, 'only GET here'));
  else if (path === '/metrics') sendText(response, EXPOSITION_TYPE, desk.metrics());
  else if (path === '/roundfold/') sendPage(response);
  else send(response, fault(404, 'there is no such page'));
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

async function act(desk: Desk, request: IncomingMessage, steps: readonly string[]): Promise<Answer> {
  if (request.method !== 'POST') return fault(405, 'only GET and POST here');
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  const isSameSite = site === undefined || site === 'same-origin';
  if (request.headers[ACTION_HEADER] === undefined || !isOwn || !isSameSite)
    return fault(
      403,
      `actions are taken from the dashboard's own page only, with the header ${ACTION_HEADER}`,
    );
  const body = await readBody(request);
  return body === undefined ? fault(400, 'the body is no small JSON object') : await desk.act(steps, body);
}

/** Knows the answers. */
class Desk {
  readonly #ledger: Ledger;
  readonly #options: PageOptions;

  constructor(ledger: Ledger, options: PageOptions) {
    this.#ledger = ledger;
    this.#options = options;
  }

  metrics(): string {
    return writeExposition(this.#ledger.metrics());
  }

  /** What a page that is open has to know of changes. */
  changes(ids: ReadonlySet<string>): object {
    const rows = [...ids].flatMap((id) => this.#ledger.row(id) ?? []).map((row) => this.#withWishes(row));
    return { conversations: rows, totals: this.#ledger.totals(), health: this.#ledger.health() };
  }

  async read(steps: readonly string[]): Promise<Answer> {
    const [what, id = '', part, name = ''] = steps;
    if (steps.length === 1) return this.#readAll(what);
    const row = what === 'conversations' ? this.#ledger.row(id) : undefined;
    const source = this.#sourceOf(id);
    if (row === undefined || source === undefined) return fault(404, 'this conversation is not remembered');
    if (steps.length === 2) {
      await this.#options.wishes?.of(source.tenant);
      const folds = await listFolds(source);
      return found({ ...this.#withWishes(row), turnList: this.#ledger.turns(id), foldList: folds });
    }
    if (steps.length === 4 && part === 'folds')
      return foundOr(await readFold(source, name), 'this fold is not kept');
    if (steps.length === 4 && part === 'handles')
      return foundOr(await readHandle(source, name), 'nothing is kept under this handle');
    return fault(404, 'there is nothing here');
  }

  async act(steps: readonly string[], body: Readonly<Record<string, unknown>>): Promise<Answer> {
    const [what, id = '', action] = steps;
    const source = this.#sourceOf(id);
    const { wishes } = this.#options;
    if (what !== 'conversations' || steps.length !== 3) return fault(404, 'there is no such action');
    if (source === undefined) return fault(404, 'this conversation is not remembered');
    if (wishes === undefined) return fault(409, 'this proxy takes no actions');
    const change = await changeOf(action, { source, body });
    if (change === undefined) return fault(400, 'the action or what it is about is not known');
    const { tenant } = source;
    // Where something is asked already, under the same name; else where the conversation was folded last.
    const [asked] = wishesAmong(await wishes.of(tenant), source.keys);
    const conversation = change.conversation ?? asked?.conversation ?? (await nameOfFolded(source));
    const changed =
      conversation === undefined ? undefined : await wishes.change({ tenant, conversation }, change.next);
    return changed === undefined
      ? fault(409, 'nothing of this conversation has been folded yet')
      : found(this.#wishesOf(source));
  }

  #readAll(what: string | undefined): Answer {
    switch (what) {
      case 'conversations':
        return found({
          conversations: this.#ledger.conversations().map((row) => this.#withWishes(row)),
          showsContent: this.#options.showContent === true,
          takesActions: this.#options.wishes !== undefined,
        });
      case 'money':
        return found(this.#ledger.money());
      case 'health':
        return found(this.#ledger.health());
      default:
        return fault(404, 'there is nothing here');
    }
  }

  #sourceOf(id: string): FoldSource | undefined {
    const place = this.#ledger.place(id);
    if (place === undefined) return undefined;
    const { tenant, names, format } = place;
    const keys = names.map((conversation) => ({ tenant, conversation }));
    const { store, showContent = false } = this.#options;
    return { store, tenant, keys, format, model: this.#ledger.row(id)?.model, showContent };
  }

  #wishesOf({ tenant, keys }: Pick<FoldSource, 'tenant' | 'keys'>): Wishes {
    const [wishes] = wishesAmong(this.#options.wishes?.latest(tenant) ?? [], keys);
    return { foldedUpTo: wishes?.foldedUpTo, pinned: wishes?.pinned ?? [] };
  }

  #withWishes(row: ConversationRow): ConversationRow & { readonly wishes: Wishes } {
    const source = this.#sourceOf(row.id);
    return { ...row, wishes: source === undefined ? { pinned: [] } : this.#wishesOf(source) };
  }
}

/** What is asked for one conversation, whatever it is called. */
function wishesAmong(
  wishes: readonly ConversationWishes[],
  keys: readonly ConversationKey[],
): readonly ConversationWishes[] {
  const names = new Set(keys.map(({ conversation }) => conversation));
  return wishes.filter(({ conversation }) => names.has(conversation));
}

/** What an action does to what is asked. */
interface Change {
  /** The conversation that it can only be about. */
  readonly conversation?: string;
  next(now: Wishes): Wishes;
}

/** Undefined when an action makes no sense. */
async function changeOf(
  action: string | undefined,
  { source, body }: { readonly source: FoldSource; readonly body: Readonly<Record<string, unknown>> },
): Promise<Change | undefined> {
  const { fold, place } = body;
  if (action === 'undo') {
    const undone = typeof fold === 'string' ? await undoFold(source, fold) : undefined;
    if (undone === undefined) return undefined;
    const { conversation, foldedUpTo } = undone;
    return { conversation, next: (now) => ({ ...now, foldedUpTo }) };
  }
  if (action === 'redo') return { next: ({ pinned }) => ({ pinned }) };
  if (typeof place !== 'number' || !Number.isSafeInteger(place) || place < 0) return undefined;
  const others = ({ pinned = [] }: Wishes) => pinned.filter((each) => each !== place);
  if (action === 'pin')
    return { next: (now) => ({ ...now, pinned: [...others(now), place].slice(-MOST_PINS) }) };
  if (action === 'unpin') return { next: (now) => ({ ...now, pinned: others(now) }) };
  return undefined;
}

const MOST_PINS = 100;

function found(value: object): Answer {
  return { status: 200, value };
}

function foundOr(value: object | undefined, message: string): Answer {
  return value === undefined ? fault(404, message) : found(value);
}

function fault(status: number, message: string): Answer {
  return { status, value: { error: { message } } };
}

function send(response: ServerResponse, { status, value }: Answer): void {
  response.writeHead(status, { ...SAFE_HEADERS, 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}

function sendText(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { ...SAFE_HEADERS, 'content-type': type }).end(text);
}

function sendPage(response: ServerResponse): void {
  const page = loadPage();
  if (page === undefined) send(response, fault(404, 'the page is not built: run npm run build'));
  else response.writeHead(200, PAGE_HEADERS).end(page);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Undefined when it is too long or no object. */
async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>> | undefined> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > LONGEST_BODY) return undefined;
  }
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
