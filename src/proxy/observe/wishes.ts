import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import type { Wishes } from '../../keeper/options.ts';
import { Recent } from '../../keeper/recent.ts';
import type { ConversationKey } from '../../stores/store.ts';

export interface WishOptions {
  /** Where wishes outlive the process; readable by its owner only. Without it they end with the process. */
  readonly file?: string | undefined;
}

/** What people have asked for conversations: which fold is undone, and which messages stay. Holds no content. */
export interface WishBook {
  wishesFor(key: ConversationKey): Wishes | undefined;
  /**
   * Asks for something, or for nothing any more. A conversation that is known by several names is told under each.
   * @throws RoundfoldError `store` when the file cannot be written; nothing has changed then
   */
  wish(keys: readonly ConversationKey[], wishes: Wishes | undefined): void;
  /** Everything that is asked for conversations of a tenant. */
  of(tenant: string): readonly (ConversationKey & Wishes)[];
}

const MOST_WISHES = 5000;
const OWNER_ONLY = 0o600;

/**
 * Opens a book of wishes.
 * @throws RoundfoldError `store` when its file is there and cannot be read
 */
export function createWishes({ file }: WishOptions = {}): WishBook {
  let entries = new Recent<string, ConversationKey & Wishes>(MOST_WISHES);
  for (const entry of file === undefined ? [] : readWishes(file)) entries.use(keyOf(entry), entry);

  return {
    wishesFor: (key) => entries.get(keyOf(key)),
    of: (tenant) => entries.values().filter((entry) => entry.tenant === tenant),
    wish(keys, wishes) {
      const changed = new Set(keys.map(keyOf));
      const others = entries.values().filter((entry) => !changed.has(keyOf(entry)));
      const asked = isNothing(wishes) ? [] : keys.map((key) => ({ ...key, ...wishes }));
      const next = [...others, ...asked];
      if (file !== undefined) writeWishes(file, next);
      entries = new Recent(MOST_WISHES);
      for (const entry of next) entries.use(keyOf(entry), entry);
    },
  };
}

function isNothing(wishes: Wishes | undefined): boolean {
  return wishes === undefined || (wishes.foldedUpTo === undefined && (wishes.pinned ?? []).length === 0);
}

/** Names are hexadecimal digits, so that nothing a tenant is called can be taken for another one's name. */
function keyOf({ tenant, conversation }: ConversationKey): string {
  return `${conversation} ${tenant}`;
}

function readWishes(file: string): readonly (ConversationKey & Wishes)[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isObject(error) && error['code'] === 'ENOENT') return [];
    throw unusable(file, 'cannot be read', error);
  }
  const list = parse(file, text);
  if (!Array.isArray(list) || !list.every(isWish)) throw unusable(file, 'is no list of wishes', undefined);
  return list;
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unusable(file, 'is no JSON', error);
  }
}

function isWish(value: unknown): value is ConversationKey & Wishes {
  if (!isObject(value)) return false;
  const { tenant, conversation, foldedUpTo, pinned = [] } = value;
  const isPlace = (place: unknown) => Number.isSafeInteger(place) && Number(place) >= 0;
  return (
    typeof tenant === 'string' &&
    typeof conversation === 'string' &&
    (foldedUpTo === undefined || isPlace(foldedUpTo)) &&
    Array.isArray(pinned) &&
    pinned.every(isPlace)
  );
}

/** All or nothing: a reader never sees half a file. */
function writeWishes(file: string, entries: readonly object[]): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, `${JSON.stringify(entries)}\n`, { mode: OWNER_ONLY, flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unusable(file, 'cannot be written', error);
  }
}

function unusable(file: string, what: string, cause: unknown): RoundfoldError {
  return new RoundfoldError('store', `the file of undone folds and pins ${what}`, {
    ...(cause === undefined ? {} : { cause }),
    place: { source: file },
    remedy: 'Move it away, or name another one.',
  });
}
