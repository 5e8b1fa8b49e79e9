import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ArchivedSpan, Store } from '../../src/core/store.ts';
import { storeBench, storeCases } from '../support/store-cases.ts';
import { spanOf } from '../support/store-records.ts';

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
  | { readonly type: 'forget'; readonly by: number; readonly conversation: string }
  | { readonly type: 'wait'; readonly minutes: number };

const by = fc.nat({ max: 1 });
const handle = fc.constantFrom('rf:a', 'rf:b');
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
    if (!this.spans.some((known) => isSamePlace(known, span))) this.spans.push(span);
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
    stores = [first, storeCase.kind === 'memory' ? first : await open()];
  });

  test.prop([steps], { numRuns: 60 })('gives what is there now, whoever wrote it', async (taken) => {
    const tenant = `tenant ${++runs}`;
    const model = new Model();
    for (const [index, step] of taken.entries()) await take(step, { tenant, model, index });
    const listed = await stores[0]?.list({ tenant });
    const usedAt = Object.fromEntries(listed?.map((entry) => [entry.conversation, entry.usedAt]) ?? []);
    expect(usedAt).toEqual(model.listing());
  });

  async function take(
    step: Step,
    { tenant, model, index }: { readonly tenant: string; readonly model: Model; readonly index: number },
  ): Promise<void> {
    if (step.type === 'wait') {
      now += step.minutes * MINUTE;
      return;
    }
    const store = stores[step.by] as Store; // there are two
    if (step.type === 'forget') {
      await store.forget({ tenant, conversation: step.conversation });
      model.forget(step.conversation, now);
    } else if (step.type === 'put') {
      const { handle: name, start, conversation: owner } = step;
      const span = spanOf({
        tenant,
        handle: name,
        start,
        end: start + 1,
        conversation: owner,
        body: new TextEncoder().encode(`step ${index}`),
      });
      await store.restore({ span });
      model.put(span, now);
    } else {
      const expected = model.recall(step.handle, now);
      const found = await store.recall({ tenant, handle: step.handle });
      expect(found).toStrictEqual(expected);
      // Nobody else sees what a caller does to its bytes.
      found?.body.fill(0);
    }
  }
});
