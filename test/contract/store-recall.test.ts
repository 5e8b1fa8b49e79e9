import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ArchivedSpan, Store } from '../../src/stores/store.ts';
import { storeBench, storeCases } from '../support/store-cases.ts';
import { checkpointOf, commitAlone, leaseOf, spanOf } from '../support/store-records.ts';

const MINUTE = 60_000;
const TOUCH_AFTER = 5 * MINUTE;

/** What two processes do to the same records, by turns. */
type Step =
  | { readonly type: 'recall'; readonly by: number; readonly handle: string }
  | {
      readonly type: 'put';
      readonly by: number;
      readonly handle: string;
      readonly start: number;
      readonly conversation: string;
    }
  | CommitStep
  | { readonly type: 'forget'; readonly by: number; readonly conversation: string }
  | { readonly type: 'wait'; readonly minutes: number };

interface CommitStep {
  readonly type: 'commit';
  readonly by: number;
  readonly places: readonly { readonly handle: string; readonly start: number }[];
  readonly conversation: string;
  /** Whether the lease was gone before. */
  readonly isLate: boolean;
}

/** Where a step is taken. */
interface Turn {
  readonly tenant: string;
  readonly model: Model;
  readonly index: number;
}

const by = fc.nat({ max: 1 });
const handle = fc.constantFrom('a', 'b', 'c', 'd');
const conversation = fc.constantFrom('x', 'y');
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('recall' as const), by, handle }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('put' as const),
        by,
        handle,
        start: fc.nat({ max: 2 }),
        conversation,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('commit' as const),
        by,
        places: fc.array(fc.record({ handle, start: fc.nat({ max: 2 }) }), { maxLength: 3 }),
        conversation,
        isLate: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('forget' as const), by, conversation }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 7 }) }),
    },
  ),
  { minLength: 10, maxLength: 40 },
);

/** What is stored, as a list that is looked through. */
class Model {
  spans: ArchivedSpan[] = [];
  /** Conversations in the order in which they came, with their last use. */
  readonly usedAt = new Map<string, number>();

  put(span: ArchivedSpan, now: number): void {
    this.use(span.conversation, now);
    if (this.spans.some((known) => isSamePlace(known, span))) return;
    this.spans.push({ ...span, body: span.body.slice() });
  }

  recall(name: string, now: number): ArchivedSpan | undefined {
    const order = [...this.usedAt.keys()];
    const [first] = this.spans
      .filter((span) => span.handle === name)
      .sort(
        (left, right) =>
          left.start - right.start || order.indexOf(left.conversation) - order.indexOf(right.conversation),
      );
    if (first !== undefined) this.use(first.conversation, now);
    return first;
  }

  forget(name: string, now: number): void {
    this.spans = this.spans.filter((span) => span.conversation !== name);
    this.usedAt.set(name, now);
  }

  use(name: string, now: number): void {
    if ((this.usedAt.get(name) ?? Number.NEGATIVE_INFINITY) < now - TOUCH_AFTER) this.usedAt.set(name, now);
  }

  /** The last use of every conversation that has spans. */
  listing(): Readonly<Record<string, number | undefined>> {
    return Object.fromEntries(
      this.spans.map((span) => [span.conversation, this.usedAt.get(span.conversation)]),
    );
  }
}

function recordsOfStep({ conversation: owner, places }: CommitStep, { tenant, index }: Omit<Turn, 'model'>) {
  return {
    checkpoint: checkpointOf({ tenant, conversation: owner, boundary: index + 1 }),
    spans: places.map((place) => spanOfStep(place, { tenant, conversation: owner, index })),
  };
}

function spanOfStep(
  { handle: name, start }: { readonly handle: string; readonly start: number },
  { tenant, conversation: owner, index }: Omit<Turn, 'model'> & { readonly conversation: string },
): ArchivedSpan {
  const body = new TextEncoder().encode(`step ${index} at ${start}`);
  return spanOf({ tenant, handle: handleOf(tenant, name), start, end: start + 1, conversation: owner, body });
}

/** One that no other run has: a store treats those differently that it was asked for before. */
function handleOf(tenant: string, name: string): string {
  return `rf:${tenant} ${name}`;
}

function isSamePlace(left: ArchivedSpan, right: ArchivedSpan): boolean {
  return (
    left.conversation === right.conversation && left.handle === right.handle && left.start === right.start
  );
}

const bench = storeBench();
afterAll(() => bench.end());

describe.each(storeCases)('recall from store $name', (storeCase) => {
  let stores: readonly Store[];
  let now = 1_800_000_000_000;
  let runs = 0;
  beforeAll(async () => {
    const address = await bench.address(storeCase.kind);
    const open = () => bench.open(storeCase, { address, now: () => now });
    const first = await open();
    // Memory is not shared.
    stores = [first, storeCase.isShared ? await open() : first];
  });

  test.prop([steps], { numRuns: 60 })('gives what is there now, whoever wrote it', async (taken) => {
    const tenant = `tenant ${++runs}`;
    const model = new Model();
    for (const [index, step] of taken.entries()) await take(step, { tenant, model, index });
    const listed = await stores[0]?.list({ tenant });
    const withSpans = listed?.filter(({ spans }) => spans > 0) ?? [];
    const usedAt = Object.fromEntries(withSpans.map((entry) => [entry.conversation, entry.usedAt]));
    expect(usedAt).toEqual(model.listing());
  });

  test('is written down as a use of what was committed a while ago', async () => {
    const tenant = `tenant ${++runs}`;
    const store = stores[0] as Store; // there are two
    const span = spanOf({ tenant });
    await commitAlone(store, checkpointOf({ tenant }), [span]);
    now += TOUCH_AFTER + 1;
    expect(await store.recall(span)).toStrictEqual(span);
    expect((await store.list({ tenant })).map(({ usedAt }) => usedAt)).toEqual([now]);
  });

  test('finds nothing of a conversation that is forgotten at the same time', async () => {
    const tenant = `tenant ${++runs}`;
    const store = stores[0] as Store; // there are two
    for (let round = 0; round < 5; round++) {
      const span = spanOf({ tenant, handle: `rf:${round}` });
      const lease = await leaseOf(store, span.conversation, tenant);
      const checkpoint = checkpointOf({ tenant, boundary: round + 1 });
      await Promise.all([store.commit({ checkpoint, spans: [span], lease }), store.forget(span)]);
      expect(await store.recall(span)).toBeUndefined();
      await store.release(lease);
    }
  });

  async function take(step: Step, { tenant, model, index }: Turn): Promise<void> {
    if (step.type === 'wait') {
      now += step.minutes * MINUTE;
      return;
    }
    const store = stores[step.by] as Store; // there are two
    if (step.type === 'forget') {
      await store.forget({ tenant, conversation: step.conversation });
      model.forget(step.conversation, now);
    } else if (step.type === 'put') {
      const span = spanOfStep(step, { tenant, conversation: step.conversation, index });
      await store.restore({ span });
      model.put(span, now);
    } else if (step.type === 'commit') {
      if (step.isLate) await commitLate(store, step, { tenant, index });
      else await commitInTime(store, step, { tenant, model, index });
    } else {
      const asked = handleOf(tenant, step.handle);
      const expected = model.recall(asked, now);
      const found = await store.recall({ tenant, handle: asked });
      expect(found).toStrictEqual(expected);
      // Nobody else sees what a caller does to its bytes.
      found?.body.fill(0);
    }
  }

  async function commitInTime(store: Store, step: CommitStep, { tenant, model, index }: Turn) {
    const { checkpoint, spans } = recordsOfStep(step, { tenant, index });
    await commitAlone(store, checkpoint, spans);
    model.use(step.conversation, now);
    for (const span of spans) {
      model.put(span, now);
      span.body.fill(0);
    }
  }

  async function commitLate(store: Store, step: CommitStep, turn: Omit<Turn, 'model'>) {
    const { checkpoint, spans } = recordsOfStep(step, turn);
    const lease = await leaseOf(store, step.conversation, turn.tenant);
    await store.release(lease);
    expect(await store.commit({ checkpoint, spans, lease })).toBe('fenced');
  }
});
