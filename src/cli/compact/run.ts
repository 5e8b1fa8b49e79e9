import type { Conversation } from '../../core/format.ts';
import type { Outcome, StrategyContext } from '../../core/strategy.ts';
import type { GivenArguments } from '../command.ts';
import type { Report } from '../report.ts';

/** A run that did not fail, and all it takes to write down what came of it. */
export interface Run {
  readonly report: Report;
  readonly given: GivenArguments;
  readonly conversation: Conversation;
  /** The model whose prices and ways of counting apply; undefined when nobody named one. */
  readonly model: string | undefined;
  readonly strategy: string;
  readonly context: Omit<StrategyContext, 'signal'>;
  readonly outcome: Outcome;
}
