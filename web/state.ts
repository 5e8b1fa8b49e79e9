import { computed, signal } from '@preact/signals';
import type { ConversationRow, MoneyTotals, Turn } from '../src/proxy/observe/account.ts';
import type { ArchivedMessage, FoldRow, FoldView } from '../src/proxy/observe/fold-view.ts';
import type { Health } from '../src/proxy/observe/health.ts';
import type { Money } from '../src/proxy/observe/ledger.ts';
import type { Wishes } from '../src/stores/store.ts';

export type Row = ConversationRow & { readonly wishes: Wishes };
export type Detail = Row & { readonly turnList: readonly Turn[]; readonly foldList: readonly FoldRow[] };
export type { ArchivedMessage, FoldRow, FoldView, Health, Money, Turn };

/** Where the page is: what stands behind `#/` in its address. */
export const steps = signal<readonly string[]>(readSteps());
/** The one that began last comes first; a row never moves while it is looked at. */
export const rows = computed(() =>
  [...rowsById.value.values()].toSorted((left, right) => right.firstAt - left.firstAt),
);
/** What everything has cost: always new. Its details are loaded where they are shown. */
export const totals = signal<MoneyTotals | undefined>(undefined);
export const money = signal<Money | undefined>(undefined);
export const health = signal<Health | undefined>(undefined);
export const detail = signal<Detail | undefined>(undefined);
export const fold = signal<FoldView | undefined>(undefined);
export const settings = signal({ showsContent: false, takesActions: false });
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** What went wrong with the last thing that was asked for. */
export const problem = signal<string | undefined>(undefined);

const rowsById = signal<ReadonlyMap<string, Row>>(new Map());

interface Change {
  readonly conversations: readonly Row[];
  readonly totals: MoneyTotals;
  readonly health: Health;
}

/** Asks for everything, and listens to changes from then on. */
export function start(): void {
  addEventListener('hashchange', () => {
    steps.value = readSteps();
    void follow();
  });
  const source = new EventSource('api/events');
  source.addEventListener('open', () => {
    connection.value = 'live';
    // Whatever happened while nobody listened.
    void refresh();
  });
  source.addEventListener('error', () => {
    connection.value = 'lost';
  });
  source.addEventListener('change', ({ data }: MessageEvent<string>) => take(JSON.parse(data) as Change));
}

async function refresh(): Promise<void> {
  const [list, newHealth] = await Promise.all([
    ask<{ conversations: readonly Row[]; showsContent: boolean; takesActions: boolean }>('conversations'),
    ask<Health>('health'),
  ]);
  if (list !== undefined) {
    rowsById.value = new Map(list.conversations.map((row) => [row.id, row]));
    settings.value = list;
  }
  health.value = newHealth ?? health.value;
  await Promise.all([follow(), loadMoney()]);
}

function take(change: Change): void {
  if (change.conversations.length > 0)
    rowsById.value = new Map([
      ...rowsById.value,
      ...change.conversations.map((row) => [row.id, row] as const),
    ]);
  totals.value = change.totals;
  health.value = change.health;
  const [view, id] = steps.value;
  if (view === 'money' || (view === 'c' && change.conversations.some((row) => row.id === id))) loadSoon();
}

/** Loads what the address is about. */
async function follow(): Promise<void> {
  problem.value = undefined;
  const [view, id, part, name] = steps.value;
  if (view !== 'c' || id === undefined) {
    detail.value = undefined;
    fold.value = undefined;
    if (view === 'money') await loadMoney();
    return;
  }
  if (detail.value?.id !== id) detail.value = undefined;
  if (fold.value?.id !== name) fold.value = undefined;
  await loadDetail();
  if (part === 'f' && name !== undefined && fold.value === undefined)
    fold.value = await ask<FoldView>(`conversations/${id}/folds/${name}`);
}

/** Whatever is open is loaded again at most once a second, however much happens. */
const LOAD_MS = 1000;
let isLoadDue = false;

function loadSoon(): void {
  if (isLoadDue) return;
  isLoadDue = true;
  setTimeout(() => {
    isLoadDue = false;
    void (steps.value[0] === 'money' ? loadMoney() : loadDetail());
  }, LOAD_MS);
}

async function loadMoney(): Promise<void> {
  money.value = (await ask<Money>('money')) ?? money.value;
  totals.value = money.value;
}

async function loadDetail(): Promise<void> {
  const [view, id = ''] = steps.value;
  if (view !== 'c') return;
  const loaded = await ask<Detail>(`conversations/${id}`);
  if (loaded !== undefined && steps.value[1] === id) detail.value = loaded;
}

/** What is kept under a handle of the open conversation. */
export function readHandle(handle: string): Promise<readonly ArchivedMessage[] | undefined> {
  return ask(`conversations/${steps.value[1]}/handles/${encodeURIComponent(handle)}`);
}

/** Undoes a fold, takes that back, pins a message or lets it go. */
export async function act(action: 'undo' | 'redo' | 'pin' | 'unpin', about: object = {}): Promise<void> {
  const { id } = detail.value ?? {};
  if (id === undefined) return;
  const done = await ask<Wishes>(`conversations/${id}/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-roundfold-action': action },
    body: JSON.stringify(about),
  });
  if (done === undefined) return;
  problem.value = undefined;
  const row = rowsById.value.get(id);
  if (row !== undefined) rowsById.value = new Map([...rowsById.value, [id, { ...row, wishes: done }]]);
  if (detail.value?.id === id) detail.value = { ...detail.value, wishes: done };
}

async function ask<Value>(path: string, options: RequestInit = {}): Promise<Value | undefined> {
  try {
    const response = await fetch(`api/${path}`, options);
    const value = (await response.json()) as Value & { readonly error?: { readonly message: string } };
    if (response.ok) return value;
    problem.value = value.error?.message ?? `the proxy answered with ${response.status}`;
  } catch {
    problem.value = 'the proxy does not answer';
  }
  return undefined;
}

function readSteps(): readonly string[] {
  return location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '')
    .map(decodeURIComponent);
}
