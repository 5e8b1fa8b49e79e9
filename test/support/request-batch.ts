import fc from 'fast-check';
import { bodyFormats } from './random-bodies.ts';
import {
  actedStrategies,
  type CaseFilter,
  faultsOfCase,
  type RequestCase,
  requestCases,
} from './request-cases.ts';
import type { PropertyName } from './request-judge.ts';
import { describeFault } from './request-report.ts';

/** Bodies of one seed. A failure is searched for, and made smaller, within them. */
export const BATCH = 250;
const SHRINKING_MS = 4000;

/** What a thread is asked to do. */
export interface BatchTask {
  readonly seed: number;
  readonly bodies: number;
  readonly filter: CaseFilter;
  /** Only these properties count. */
  readonly properties: readonly PropertyName[];
  /** Formats and properties that a counterexample was made for already. */
  readonly shown: readonly string[];
}

/** How often a property failed in a format, with the smallest case that shows it where one was searched for. */
export interface Failure {
  readonly format: string;
  readonly property: PropertyName;
  readonly count: number;
  readonly counterexample: string | undefined;
}

export interface BatchResult {
  readonly bodies: number;
  readonly broken: number;
  /** Strategies that changed a request, in this batch or in one that the thread ran before. */
  readonly acted: readonly string[];
  readonly failures: readonly Failure[];
}

/** The name that a failure is counted under. */
export function keyOf({ format, property }: Pick<Failure, 'format' | 'property'>): string {
  return `${format} ${property}`;
}

/** Runs one batch. The same task always gives the same result. */
export async function runBatch({ seed, bodies, filter, properties, shown }: BatchTask): Promise<BatchResult> {
  const counts = new Map<string, Omit<Failure, 'counterexample'>>();
  let broken = 0;
  const tally = fc.asyncProperty(requestCases(filter), async (one) => {
    if (one.breakage !== undefined) broken++;
    const failed = new Set((await faultsOfCase(one)).map(({ property }) => property));
    for (const property of failed) {
      if (!properties.includes(property)) continue;
      const key = keyOf({ format: one.format, property });
      counts.set(key, { format: one.format, property, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  });
  // What is thrown here is a fault of the generator or of the judge.
  await fc.assert(tally, { numRuns: bodies, seed });
  const failures: Failure[] = [];
  for (const [key, failure] of counts) {
    const counterexample = shown.includes(key)
      ? undefined
      : await findSmallest(failure, { seed, bodies, filter });
    failures.push({ ...failure, counterexample });
  }
  return { bodies, broken, acted: [...actedStrategies], failures };
}

/** The smallest case of the batch in which the property fails, in words. */
async function findSmallest(
  { format, property }: Pick<Failure, 'format' | 'property'>,
  { seed, bodies, filter }: Pick<BatchTask, 'seed' | 'bodies' | 'filter'>,
): Promise<string> {
  const faultOf = async (one: RequestCase) =>
    one.format === format
      ? (await faultsOfCase(one)).find((fault) => fault.property === property)
      : undefined;
  const holds = fc.asyncProperty(requestCases(filter), async (one) => (await faultOf(one)) === undefined);
  const { counterexample } = await fc.check(holds, {
    numRuns: bodies,
    seed,
    interruptAfterTimeLimit: SHRINKING_MS,
  });
  const smallest = counterexample?.[0];
  const fault = smallest === undefined ? undefined : await faultOf(smallest);
  const again = `  again: npm run test:requests -- --seed ${seed} --bodies ${bodies} --properties ${property}${filterText(filter)}`;
  if (smallest === undefined || fault === undefined) return `${property}: not found again\n${again}`;
  return `${describeFault(smallest, fault)}\n${again}`;
}

function filterText({ formats, strategies }: CaseFilter): string {
  const named = [
    formats.length === bodyFormats.length ? '' : ` --formats ${formats.join()}`,
    strategies === undefined ? '' : ` --strategies ${strategies.join()}`,
  ];
  return named.join('');
}
