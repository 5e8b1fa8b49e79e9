import { type InspectedSession, renderInspectionPage } from '../report/html/inspection-page.ts';
import type { GivenArguments } from './command.ts';
import { writeOutput } from './output-files.ts';
import type { Terminal } from './terminal.ts';

/** So many conversations are on a page; of more, the largest. */
const ON_PAGE = 100;

/** Gathers the conversations of a page. */
export interface PageCollector {
  add(session: InspectedSession): void;
  /**
   * Writes the page and says so; does nothing when there is nothing on it.
   * @throws RoundfoldError `usage` when it cannot be written
   */
  write(terminal: Terminal): void;
}

/** Gathers what goes on the page that `--html` names; undefined when none is wanted. */
export function collectPage(given: GivenArguments): PageCollector | undefined {
  if (given.text('html') === undefined) return undefined;
  let sessions: readonly InspectedSession[] = [];
  let count = 0;
  return {
    add(session) {
      count++;
      sessions = [...sessions, session];
      // A log of thousands costs no more than twice what is shown of it.
      if (sessions.length >= 2 * ON_PAGE) sessions = largestOf(sessions);
    },
    write(terminal) {
      if (count === 0) return;
      const shown = largestOf(sessions);
      const leftOut = count - shown.length;
      const out = writeOutput(given, 'html', () => renderInspectionPage({ sessions: shown, leftOut }));
      terminal.talk(`wrote ${out}\n`);
    },
  };
}

/** The largest, in the order in which they came. */
function largestOf(sessions: readonly InspectedSession[]): readonly InspectedSession[] {
  const size = ({ inspection }: InspectedSession) => inspection.context.tokens;
  const largest = new Set(sessions.toSorted((left, right) => size(right) - size(left)).slice(0, ON_PAGE));
  return sessions.filter((session) => largest.has(session));
}
