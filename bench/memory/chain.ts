import { withMessages } from '../../src/conversation/format.ts';
import type { Message } from '../../src/conversation/message.ts';
import type { Row } from '../../src/lab/row.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import { requestPlaces } from '../../src/lab/trajectory.ts';

/** How a row is called that compacts so many times. */
export function chainedName({ name }: Pick<Row, 'name'>, times: number): string {
  return `${name}, ${times} compactions`;
}

/**
 * The same row, compacting so many times on the way to the cut: each time what the last compaction left and what came
 * since, to the same tokens, as an agent does whose window is full again and again. Tokens are counted as those of cuts
 * are.
 */
export function chainedRow(row: Row, times: number, countMessages: CountMessages): Row {
  return {
    name: chainedName(row, times),
    async compact(cut, budgetTokens) {
      const { messages } = cut.prefix;
      let output: readonly Message[] = [];
      let covered = 0;
      for (const end of chainEnds(messages, { times, budgetTokens, countMessages })) {
        const grown = [...output, ...messages.slice(covered, end)];
        const prefix = withMessages(cut.prefix, grown);
        output = await row.compact({ ...cut, prefix, prefixTokens: countMessages(grown) }, budgetTokens);
        covered = end;
      }
      return output;
    },
  };
}

interface ChainSize {
  readonly times: number;
  readonly budgetTokens: number;
  readonly countMessages: CountMessages;
}

/**
 * Where the compactions happen: evenly between the budget, which is left each time, and the whole, each where a request was
 * sent. Fewer where there are not so many places.
 */
function chainEnds(
  messages: readonly Message[],
  { times, budgetTokens, countMessages }: ChainSize,
): readonly number[] {
  const places = requestPlaces(messages, (message) => countMessages([message]));
  const step = (countMessages(messages) - budgetTokens) / times;
  const ends = new Set<number>();
  for (let number = 1; number < times; number++) {
    const wanted = budgetTokens + step * number;
    const next = places.find(({ index, tokens }) => tokens >= wanted && !ends.has(index));
    if (next !== undefined) ends.add(next.index);
  }
  return [...ends, messages.length];
}
