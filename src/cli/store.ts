import { lstatSync } from 'node:fs';
import { RoundfoldError } from '../conversation/errors.ts';
import { printable } from '../conversation/printable.ts';
import { countOf } from '../report/terminal.ts';
import type { PageMatch } from '../stores/spans.ts';
import type { ArchivedSpan, Store, StoredConversation, StoreFault } from '../stores/store.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';
import { EXIT_CODE_TEXT, type ExitCode, exitCodes } from './exit-codes.ts';
import { type Report, reportError } from './output.ts';

/** Options of the commands over a store. */
export const storeOption: OptionDefinition = {
  flags: '--store <address>',
  help: 'PATH, sqlite:PATH or postgres://…; default ROUNDFOLD_STORE, or store.sqlite among your data',
};

export const tenantOption: OptionDefinition = {
  flags: '--tenant <name>',
  help: 'whose conversations; needed only where a store has several tenants',
};

export const conversationOption: OptionDefinition = {
  flags: '--conversation <id>',
  help: 'only this one; the beginning of its id is enough',
};

/** The end of the help of commands over a store. */
export const STORE_HELP: string = `The store: --store, or ROUNDFOLD_STORE, or $XDG_DATA_HOME/roundfold/store.sqlite
(below ~/.local/share when that is not set). ROUNDFOLD_STORE_SECRET opens records
that are sealed. What only reads makes no file where there is none.

${EXIT_CODE_TEXT}
`;

/** What a command over a store works with. */
export interface StoreWork {
  readonly given: GivenArguments;
  readonly report: Report;
  readonly access: StoreAccess;
}

/**
 * Does work over the store that was named, and closes it. Records that could not be served are told, and the command has
 * failed then, whatever else it did.
 * @throws RoundfoldError `usage` for an address or a secret that no store could have
 */
export async function overStore(
  given: GivenArguments,
  report: Report,
  work: (work: StoreWork) => Promise<ExitCode>,
): Promise<ExitCode> {
  const access = await openAccess(given);
  try {
    const code = await work({ given, report, access });
    const faults = access.takeFaults();
    if (faults.length === 0) return code;
    reportError(report, faultError(faults));
    return exitCodes.failed;
  } finally {
    await access.close();
  }
}

/** Says that there is nothing to read, where that is no failure. */
export function sayNothingStored({ report, access }: StoreWork): ExitCode {
  report.terminal.talk(`nothing is stored yet: there is no ${access.name}\n`);
  return exitCodes.done;
}

/** The store that a command was told to use. */
export interface StoreAccess {
  /** What messages call it. Holds no password. */
  readonly name: string;
  /** What opens it in another thread. May hold a password. */
  readonly opening: { readonly address: string; readonly secret: string | undefined };
  /** Undefined while there is nothing to read: asking makes no file. */
  forReading(): Store | undefined;
  /** Made with the first call, if it does not exist. */
  forWriting(): Store;
  /** The records that could not be served since the last time. */
  takeFaults(): readonly StoreFault[];
  close(): Promise<void>;
}

/** Finds the store of a command. Nothing is opened before it is used. */
async function openAccess(given: GivenArguments): Promise<StoreAccess> {
  // Loaded here, so that help and commands without a store do without.
  const { defaultStorePath } = await import('../stores/sqlite-file.ts');
  const { findStoreKind, openStore, storeKinds } = await import('../stores/registry.ts');
  const { env } = process;
  const address = given.text('store') ?? (env['ROUNDFOLD_STORE'] || defaultStorePath(env));
  const faults: StoreFault[] = [];
  const secret = env['ROUNDFOLD_STORE_SECRET'] || undefined;
  const store = openStore(address, {
    secret,
    onFault: (fault) => faults.push(fault),
  });
  const kind = findStoreKind(address);
  if (kind?.isShared === false) {
    const shared = storeKinds.filter(({ isShared }) => isShared).map((one) => one.address);
    throw new RoundfoldError('usage', `a store in ${kind.name} ends with the command that opens it`, {
      remedy: `Use one of: ${shared.join('; ')}.`,
    });
  }
  const path = kind?.fileOf === undefined ? undefined : named(kind.fileOf(address));
  return {
    name: path ?? `the store in ${store.name}`,
    opening: { address, secret },
    forReading: () => (path === undefined || isThere(path) ? store : undefined),
    forWriting: () => store,
    takeFaults: () => faults.splice(0),
    close: () => store.close(),
  };
}

function named(path: string): string {
  if (path !== '') return path;
  throw new RoundfoldError('usage', 'the address of the store names no file', {
    remedy: 'Give a path, such as sqlite:store.sqlite.',
  });
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Opening the store reports why it cannot be read.
    return true;
  }
}

const reasons: readonly {
  readonly reason: StoreFault['reason'];
  readonly what: (count: number) => string;
  readonly remedy: string;
}[] = [
  {
    reason: 'wrong-key',
    what: (count) => `${count === 1 ? 'was' : 'were'} written with another secret`,
    remedy:
      'Set ROUNDFOLD_STORE_SECRET to the secret of these records, and leave it unset for a store that has none.',
  },
  {
    reason: 'damaged',
    what: (count) => `${count === 1 ? 'is' : 'are'} damaged`,
    remedy: '`roundfold store verify` lists what is wrong, and `roundfold store import` puts back an export.',
  },
  {
    reason: 'unknown-version',
    what: (count) => `${count === 1 ? 'is' : 'are'} of an unknown version`,
    remedy:
      'Update roundfold if a newer version wrote them. What builds before this one wrote is not read any more.',
  },
];

/** What records that cannot be served mean for the user. */
export function faultError(faults: readonly StoreFault[]): RoundfoldError {
  const found = reasons
    .map((one) => ({ ...one, count: faults.filter(({ reason }) => reason === one.reason).length }))
    .filter(({ count }) => count > 0);
  const message = found.map(({ count, what }) => `${countOf(count, 'record')} ${what(count)}`).join(', ');
  return new RoundfoldError('store', `${message} and cannot be read`, {
    remedy: found.map(({ remedy }) => remedy).join(' '),
  });
}

/**
 * Fails when records could not be read: what was looked for may be among them.
 * @throws `store` when records could not be served
 */
export function refuseFaults(access: Pick<StoreAccess, 'takeFaults'>): void {
  const faults = access.takeFaults();
  if (faults.length > 0) throw faultError(faults);
}

/** How many names a message lists at most. */
const SHOWN = 5;

/**
 * The conversation of that id, or the only one whose id begins so.
 * @throws `store` when there is none, `usage` when there are several
 */
export async function findConversation(
  store: Store | undefined,
  { id, tenant }: { readonly id: string; readonly tenant: string | undefined },
): Promise<StoredConversation> {
  // An empty variable in a script must not select the only conversation there is.
  if (id === '') throw new RoundfoldError('usage', 'the id of the conversation is empty', { remedy: LISTED });
  const listed = (await store?.list({ tenant })) ?? [];
  const exact = listed.filter(({ conversation }) => conversation === id);
  const found = exact.length > 0 ? exact : listed.filter(({ conversation }) => conversation.startsWith(id));
  const [only, ...others] = found;
  if (only === undefined) {
    throw new RoundfoldError(
      'store',
      `no stored conversation has an id that begins with ${printable(id, 80)}`,
      {
        remedy: LISTED,
      },
    );
  }
  if (others.length === 0) return only;
  const isOneId = new Set(found.map(({ conversation }) => conversation)).size === 1;
  throw new RoundfoldError(
    'usage',
    isOneId
      ? `${countOf(found.length, 'tenant')} have a conversation of that id`
      : `${countOf(found.length, 'conversation')} have an id that begins with ${printable(id, 80)}`,
    { remedy: isOneId ? whichTenant(found) : 'Give more of the id.' },
  );
}

const LISTED = '`roundfold store ls` lists the conversations.';

/**
 * The tenant that was named, or the only one of the store; undefined when there is none.
 * @throws `usage` when there are several; its remedy names them, for whoever owns the store
 */
async function findTenant(store: Store, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return named;
  const listed = await store.list();
  const [only, ...others] = new Set(listed.map(({ tenant }) => tenant));
  if (others.length === 0) return only;
  throw new RoundfoldError('usage', 'the store has conversations of several tenants', {
    remedy: whichTenant(listed),
  });
}

interface SpanQuery {
  readonly handle: string;
  readonly tenant: string | undefined;
  /** Id of the only conversation that may be read, or its beginning. */
  readonly conversation?: string | undefined;
}

/** What is stored under a handle; undefined when there is nothing. */
export async function recallSpan(
  store: Store,
  { handle, tenant, conversation }: SpanQuery,
): Promise<ArchivedSpan | undefined> {
  const only =
    conversation === undefined ? undefined : await findConversation(store, { id: conversation, tenant });
  const owner = only?.tenant ?? (await findTenant(store, tenant));
  const span = owner === undefined ? undefined : await store.recall({ tenant: owner, handle });
  return only === undefined || span?.conversation === only.conversation ? span : undefined;
}

function whichTenant(conversations: readonly StoredConversation[]): string {
  const tenants = [...new Set(conversations.map(({ tenant }) => tenant))];
  const shown = tenants.slice(0, SHOWN).map((tenant) => printable(tenant, 40));
  return `Say which with --tenant: ${shown.join(', ')}${tenants.length > SHOWN ? ', …' : ''}.`;
}

export interface SpanSearch {
  readonly words: string;
  readonly limit: number;
  readonly tenant: string | undefined;
  /** Id of the only conversation to look in, or its beginning. */
  readonly conversation: string | undefined;
}

/** A page that matches, and the conversation it was found in. */
export interface FoundPage extends PageMatch {
  readonly tenant: string;
  readonly conversation: string;
}

/** Looks in one conversation or in all of a tenant, the last used first. */
export async function searchSpans(store: Store, search: SpanSearch): Promise<readonly FoundPage[]> {
  const { searchPages } = await import('../stores/spans.ts');
  const conversations = await conversationsOf(store, search);
  const found: FoundPage[] = [];
  for (const { tenant, conversation } of conversations) {
    const limit = search.limit - found.length;
    if (limit <= 0) break;
    const matches = await searchPages(store, { tenant, conversation, words: search.words, limit });
    found.push(...matches.map((match) => ({ tenant, conversation, ...match })));
  }
  if (found.length === 0) await lookForSeals(store, conversations);
  return found;
}

async function conversationsOf(
  store: Store,
  { tenant, conversation }: SpanSearch,
): Promise<readonly StoredConversation[]> {
  if (conversation !== undefined) return [await findConversation(store, { id: conversation, tenant })];
  const found = await findTenant(store, tenant);
  return found === undefined ? [] : store.list({ tenant: found });
}

/** How many conversations are opened to find out whether any of them can be. */
const OPENED = 20;

/**
 * Sealed texts are not in the index, so a search without the secret finds nothing and sees no fault. Reading a few records
 * reveals it.
 */
async function lookForSeals(store: Store, conversations: readonly StoredConversation[]): Promise<void> {
  for (const key of conversations.slice(0, OPENED)) await store.checkpoints(key);
}

/** How many records conversations have. */
export function countRecords(conversations: readonly StoredConversation[]): number {
  return conversations.reduce((sum, { checkpoints, spans }) => sum + checkpoints + spans, 0);
}

const SHORTEST_ID = 12;

/** How many letters are needed to tell the ids apart: at least twelve, so that they stay apart for a while. */
export function idLength(ids: readonly string[]): number {
  let length = SHORTEST_ID;
  const sorted = [...new Set(ids)].sort();
  for (const [index, id] of sorted.slice(1).entries()) {
    let common = 0;
    while (common < id.length && id[common] === sorted[index]?.[common]) common++;
    length = Math.max(length, common + 1);
  }
  return length;
}
