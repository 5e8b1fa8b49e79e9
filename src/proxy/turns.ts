import type { Conversation } from '../conversation/format.ts';
import { createChains, NAMING_MESSAGES, namesOfConversation } from '../conversation/identity.ts';
import type { Message, Usage } from '../conversation/message.ts';
import { Recent } from '../keeper/recent.ts';
import type { TurnName } from './folder.ts';

/** Remembers what providers reported, so that the next request of a conversation is measured by it. */
export interface Turns {
  /** Every name that a conversation can have. */
  namesOf(conversation: Conversation): readonly string[];
  nameOf(tenant: string, conversation: Conversation): TurnName;
  report(turn: TurnName, usage: Usage): void;
  /** What was reported with the newest answer in this request; undefined when that came another way. */
  usageFor(tenant: string, conversation: Conversation): Usage | undefined;
}

const REMEMBERED_TURNS = 5000;

/** Makes a memory of what was reported. Keep it as long as the conversations. */
export function createTurns(): Turns {
  const chains = createChains();
  const reported = new Recent<string, Usage>(REMEMBERED_TURNS);

  /** The request that had the first `length` messages of a conversation. */
  const turnOf = (tenant: string, conversation: Conversation, length: number): TurnName => {
    const { format, messages } = conversation;
    const chain = chains.chainOf(conversation);
    const last = messages[length - 1];
    return {
      tenant,
      conversation: chain.linkAt(Math.max(0, Math.min(NAMING_MESSAGES, length - chain.head))),
      length,
      last: last === undefined ? '' : chains.chainOf({ format, messages: [asUser(last)] }).linkAt(1),
    };
  };

  return {
    namesOf: (conversation) => namesOfConversation(chains.chainOf(conversation)),
    nameOf: (tenant, conversation) => turnOf(tenant, conversation, conversation.messages.length),
    report(turn, usage) {
      if (usage.promptTokens > 0) reported.use(keyOf(turn), usage);
    },
    usageFor(tenant, conversation) {
      const length = lengthBeforeAnswer(conversation);
      return length === 0 ? undefined : reported.get(keyOf(turnOf(tenant, conversation, length)));
    },
  };
}

/** A system message that stood alone would count as instructions and have no link. */
function asUser(message: Message): Message {
  return message.role === 'system' ? { ...message, role: 'user' } : message;
}

function keyOf({ tenant, conversation, length, last }: TurnName): string {
  return `${conversation} ${length} ${last} ${tenant}`;
}

/** Number of messages in front of the newest answer, all of its records together. 0 when nobody has answered. */
function lengthBeforeAnswer({ messages }: Conversation): number {
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  if (newest === -1) return 0;
  return messages.findLastIndex(({ role }, index) => index < newest && role !== 'assistant') + 1;
}
