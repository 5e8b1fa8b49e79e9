import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { countOf } from '../../report/terminal.ts';
import type { Store, StoredConversation } from '../../stores/store.ts';

/** Names that a message lists at most. */
const SHOWN = 5;

/**
 * The conversation of that id, or the only one whose id begins so.
 * @throws `store` when there is none, `usage` when there are several
 */
export async function findConversation(
  store: Store | undefined,
  { id, tenant }: { readonly id: string; readonly tenant: string | undefined },
): Promise<StoredConversation> {
  // Whoever has an empty variable in a script must not hit the only conversation there is.
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
export async function findTenant(store: Store, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return named;
  const listed = await store.list();
  const [only, ...others] = new Set(listed.map(({ tenant }) => tenant));
  if (others.length === 0) return only;
  throw new RoundfoldError('usage', 'the store has conversations of several tenants', {
    remedy: whichTenant(listed),
  });
}

function whichTenant(conversations: readonly StoredConversation[]): string {
  const tenants = [...new Set(conversations.map(({ tenant }) => tenant))];
  const shown = tenants.slice(0, SHOWN).map((tenant) => printable(tenant, 40));
  return `Say which with --tenant: ${shown.join(', ')}${tenants.length > SHOWN ? ', …' : ''}.`;
}
