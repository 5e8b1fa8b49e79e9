import type { Conversation } from '../conversation/format.ts';
import type { Block, Role } from '../conversation/message.ts';
import type { TokenEstimator } from './token-estimator.ts';

/** What tokens are spent on. */
export type TokenClass =
  | 'system'
  | 'tools'
  | 'user'
  | 'assistant'
  | 'reasoning'
  | 'tool-calls'
  | 'tool-results'
  | 'media'
  | 'other'
  | 'overhead';

/** Every class, in the order in which reports list them. */
export const tokenClasses: readonly TokenClass[] = [
  'system',
  'tools',
  'user',
  'assistant',
  'reasoning',
  'tool-calls',
  'tool-results',
  'media',
  'other',
  'overhead',
];

/** Estimated tokens of a conversation by what they are spent on. The classes add up to the whole. */
export function tokensByClass(
  { frame, messages }: Conversation,
  estimator: TokenEstimator,
): Readonly<Record<TokenClass, number>> {
  const totals: Record<TokenClass, number> = {
    system: estimator.countSystem(frame),
    tools: estimator.countTools(frame),
    user: 0,
    assistant: 0,
    reasoning: 0,
    'tool-calls': 0,
    'tool-results': 0,
    media: 0,
    other: 0,
    overhead: estimator.profile.perRequestTokens + messages.length * estimator.profile.perMessageTokens,
  };
  for (const { role, blocks } of messages) {
    for (const block of blocks) totals[classOf(block, role)] += estimator.countBlock(block);
  }
  return totals;
}

function classOf(block: Block, role: Role): TokenClass {
  switch (block.type) {
    case 'text':
      return role;
    case 'tool-call':
      return 'tool-calls';
    case 'tool-result':
      return 'tool-results';
    case 'compaction':
      return 'other';
    case 'reasoning':
    case 'media':
    case 'other':
      return block.type;
  }
}
