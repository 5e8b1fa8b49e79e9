import type { Message } from '../../src/conversation/message.ts';
import type { Row } from '../../src/lab/row.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import type { Cut } from '../../src/lab/trajectory.ts';

export interface SearchedRowOptions {
  readonly name: string;
  /** The settings to try, from the one that keeps least to the one that keeps most. At least one. */
  settingsFor(cut: Cut): readonly number[];
  compactAt(cut: Cut, setting: number): Promise<readonly Message[]>;
  readonly countMessages: CountMessages;
}

/**
 * A row for something that takes no budget: the setting with the largest output within the budget is looked for, by
 * halves. Where none gets there, the output of the first setting is given, which is then over the budget.
 */
export function searchedRow({ name, settingsFor, compactAt, countMessages }: SearchedRowOptions): Row {
  return {
    name,
    async compact(cut, budgetTokens) {
      const settings = settingsFor(cut);
      let best: readonly Message[] | undefined;
      let low = 0;
      let high = settings.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const output = await compactAt(cut, settings[middle] ?? 0);
        if (countMessages(output) <= budgetTokens) {
          best = output;
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
      return best ?? compactAt(cut, settings[0] ?? 0);
    },
  };
}
