import type { Engine } from '../../compaction/options.ts';
import type { Outcome } from '../../compaction/plan/strategy.ts';
import type { Conversation } from '../../conversation/format.ts';
import type { ConversionChange } from '../../formats/convert/changes.ts';
import type { GivenArguments } from '../command.ts';
import type { Report } from '../report.ts';

/** A run that did not fail, and all it takes to write down what came of it. */
export interface Run {
  readonly report: Report;
  readonly given: GivenArguments;
  readonly conversation: Conversation;
  /** The model whose prices and ways of counting apply; undefined when nobody named one. */
  readonly model: string | undefined;
  readonly engine: Engine;
  /** What the request may have. */
  readonly targetTokens: number;
  readonly outcome: Outcome;
  /** What had to be mended before it could be compacted. */
  readonly repairs: readonly ConversionChange[];
}
