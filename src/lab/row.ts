import type { Outcome } from '../compaction/plan/strategy.ts';
import { withMessages } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { Cut } from './trajectory.ts';

/** One way to make a prefix smaller: a strategy, a peer, a control, the oracle. */
export interface Row {
  readonly name: string;
  /** The messages that would be sent instead of the prefix, at most so many tokens of them if it can be done. */
  compact(cut: Cut, budgetTokens: number): Promise<readonly Message[]>;
  /** The same with the receipt and the reason. Only strategies have these. */
  attempt?(cut: Cut, budgetTokens: number): Promise<Outcome>;
}

/** The same row with the system messages put in front, which it neither sees nor pays for itself. */
export function withInstructions(row: Row): Row {
  const withoutThem = new WeakMap<Cut, Cut>();
  return {
    name: row.name,
    async compact(cut, budgetTokens) {
      const { messages } = cut.prefix;
      const instructions = messages.filter(({ role }) => role === 'system');
      if (instructions.length === 0) return row.compact(cut, budgetTokens);
      const rest = withoutThem.get(cut) ?? {
        ...cut,
        prefix: withMessages(
          cut.prefix,
          messages.filter(({ role }) => role !== 'system'),
        ),
        prefixTokens: cut.prefixTokens - cut.instructionTokens,
        instructionTokens: 0,
      };
      withoutThem.set(cut, rest);
      return [...instructions, ...(await row.compact(rest, budgetTokens - cut.instructionTokens))];
    },
  };
}
