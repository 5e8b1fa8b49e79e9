import { sql } from 'kysely';
import { TOUCH_AFTER_MS } from '../last-use.ts';
import type { DialectFragments } from './dialect.ts';

/** Whether a conversation's last use should be written down again. */
export function staleAt(clock: DialectFragments['clock']) {
  return sql<number>`case when ${sql.ref('conversations.used_at')} < ${clock} - ${sql.lit(TOUCH_AFTER_MS)}
    then 1 else 0 end`.as('stale');
}
