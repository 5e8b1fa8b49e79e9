import type { Engine } from '../../compaction/options.ts';
import type { Outcome } from '../../compaction/plan/strategy.ts';
import type { Conversation } from '../../conversation/format.ts';
import type { ConversionChange } from '../../formats/change-log.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import type { SessionWriter } from '../../transcripts/session-writer.ts';
import type { GivenArguments } from '../command.ts';
import type { Report } from '../output.ts';

/** A run that did not fail, and all it takes to write down what came of it. */
export interface Run {
  readonly report: Report;
  readonly given: GivenArguments;
  readonly recording: Recording;
  /** Writes the agent's session file that is asked for; undefined when a wire format is. */
  readonly writer: SessionWriter | undefined;
  readonly conversation: Conversation;
  /** The model whose prices and ways of counting apply; undefined when nobody named one. */
  readonly model: string | undefined;
  readonly engine: Engine;
  /** What the request may have. */
  readonly targetTokens: number;
  readonly outcome: Outcome;
  /** Seconds since the last request, by which the prompt cache expires. */
  readonly idleSeconds: number;
  /** What had to be mended before it could be compacted. */
  readonly repairs: readonly ConversionChange[];
}
