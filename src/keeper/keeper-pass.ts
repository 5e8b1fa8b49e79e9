import type { Conversation } from '../conversation/format.ts';
import { clientCompaction } from '../formats/client-compaction.ts';
import type { PassReason } from './keeper-event.ts';

/** Why a request goes out as it came, and what of it tells so. */
export interface Pass {
  readonly reason: PassReason;
  readonly detail?: string | undefined;
}

/** Whether nobody may touch a request: there can be only one owner of the context. Undefined where we are. */
export function whyToPass(conversation: Conversation): Pass | undefined {
  const { continues, managedBy } = conversation.frame;
  if (continues !== undefined) return { reason: 'provider-holds-history', detail: continues };
  if (managedBy !== undefined) return { reason: 'provider-compacts', detail: managedBy };
  const client = clientCompaction(conversation);
  return client === undefined ? undefined : { reason: 'client-compacts', detail: client };
}
