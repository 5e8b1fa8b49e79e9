import { decisionsOf } from './decisions.ts';
import { type FileHistory, fileHistoryOf } from './file-history.ts';
import { type LastCheck, lastCheckOf } from './last-check.ts';
import type { Needs } from './needs.ts';
import type { Probe } from './probes.ts';
import type { Cut } from './trajectory.ts';

/** Everything that contexts are asked for at one cut, worked out once for all of them. */
export interface Exam {
  readonly cut: Cut;
  readonly needs: Needs;
  /** Empty where nobody has written any. */
  readonly probes: readonly Probe[];
  readonly files: FileHistory;
  readonly lastCheck: LastCheck | undefined;
  readonly decisions: readonly string[];
}

/** Prepares the questions for the contexts of one cut. */
export function examOf(cut: Cut, needs: Needs, probes: readonly Probe[] = []): Exam {
  const { messages } = cut.prefix;
  return {
    cut,
    needs,
    probes,
    files: fileHistoryOf(messages),
    lastCheck: lastCheckOf(messages),
    decisions: decisionsOf(messages),
  };
}
