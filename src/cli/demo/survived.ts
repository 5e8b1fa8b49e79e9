import type { DemoModule } from './project.ts';
import { type DemoStep, demoRules } from './session.ts';

/** How many of something are still there. */
export interface Share {
  readonly kept: number;
  readonly of: number;
}

/** What of the work until a request can still be read in it. */
export interface Survived {
  /** Rules of the user, word for word. */
  readonly rules: Share;
  readonly changedFiles: Share;
  /** Functions that were changed and invoices that were looked at. */
  readonly names: Share;
}

/** Looks for what the user has said and what was changed until then in the messages of a request. */
export function whatSurvived(
  messages: unknown,
  steps: readonly DemoStep[],
  changed: readonly DemoModule[],
): Survived {
  const text = JSON.stringify(messages) ?? '';
  const [first, ...later] = demoRules;
  const told = later.filter((rule) => steps.some(({ reply }) => reply?.includes(rule) === true));
  const share = (wanted: readonly string[]): Share => ({
    kept: wanted.filter((name) => text.includes(JSON.stringify(name).slice(1, -1))).length,
    of: wanted.length,
  });
  return {
    rules: share([first, ...told]),
    changedFiles: share(changed.map(({ path }) => shortPath(path))),
    names: share(changed.flatMap(({ functionName, invoice }) => [functionName, invoice])),
  };
}

/** Roots are left out where they are known: the last two parts name a file. */
function shortPath(path: string): string {
  return path.split('/').slice(-2).join('/');
}
