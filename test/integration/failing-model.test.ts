import { afterAll, describe, expect, it } from 'vitest';
import { type CompactionSettings, compactorUnderTest, tokensOf } from '../support/compaction-under-test.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { type FailingModel, failingModels } from '../support/failing-models.ts';

const FORMAT = 'anthropic-messages';
/** Shares of the window that the conversation takes. */
const FILLS = [0.4, 0.6, 0.8, 0.9, 0.95, 0.97, 0.99];
const EMERGENCY = 0.98;
/** Failures in a row after which a model is left alone, and for how many turns. */
const FAILURES = 3;
const COOL_DOWN_TURNS = 10;

const running: FailingModel[] = [];
afterAll(() => Promise.all(running.map((model) => model.close())));

async function start(name: string): Promise<FailingModel> {
  const model = await failingModels[name]!();
  running.push(model);
  return model;
}

/** What was said is all there is of a round: nothing but a summary makes it smaller. */
function roundOf(index: number): readonly unknown[] {
  const soundings = Array.from(
    { length: 30 },
    (_, line) =>
      `At pile ${line} of berth ${index} the lead found ${line * 37 + index} centimetres of water.`,
  );
  return [
    { role: 'assistant', content: [{ type: 'text', text: soundings.join('\n') }] },
    { role: 'user', content: `Go on with berth ${index + 1}.` },
  ];
}

const conversation = deepFreeze([
  { role: 'user', content: 'Sound every berth. Never touch tides.lock.' },
  ...Array.from({ length: 24 }, (_, index) => roundOf(index)).flat(),
]);
const size = tokensOf(FORMAT, conversation);

function settingsFor(fill: number): CompactionSettings {
  const targetTokens = Math.floor(size * 0.25);
  const windowTokens = Math.ceil(size / fill);
  return { format: FORMAT, strategy: 'ladder', windowTokens, targetTokens, triggerTokens: targetTokens + 1 };
}

describe.each(Object.keys(failingModels))('a model that %s', (name) => {
  it.each(FILLS)('costs nothing but quality in a window filled to %d', async (fill) => {
    const model = await start(name);
    const settings = settingsFor(fill);
    const without = await compactorUnderTest(settings).automatically(conversation);
    const compactor = compactorUnderTest({ ...settings, summarizer: model.summarizer });
    const run = await compactor.automatically(conversation);

    expect(model.asked()).toBeGreaterThan(0);
    expect(run.value).toEqual(without.value);
    expect(run.status).toBe(without.status);
    if (fill < EMERGENCY) expect(run.reason).not.toContain('collapse');
    const told = compactor.events.filter(({ type }) => String(type) === 'summarizer-failed');
    expect(told).toEqual([expect.objectContaining({ reason: expect.stringMatching(/./) })]);
  });

  it('is asked three times in a row and then once in ten turns', async () => {
    const model = await start(name);
    const compactor = compactorUnderTest({ ...settingsFor(0.6), summarizer: model.summarizer });
    const turns = 33;
    let list: readonly unknown[] = conversation;
    for (let turn = 0; turn < turns; turn++) {
      const { value } = await compactor.automatically(deepFreeze(list));
      // Several rounds a turn, so that a run is due in each of them.
      list = [
        ...(value as readonly unknown[]),
        ...[0, 1, 2, 3].flatMap((step) => roundOf(100 + turn * 4 + step)),
      ];
    }

    expect(model.asked()).toBeLessThanOrEqual(FAILURES + Math.ceil((turns - FAILURES) / COOL_DOWN_TURNS));
    expect(model.asked()).toBeGreaterThanOrEqual(FAILURES);
  });
});

it('a run that is aborted ends, though its summarizer never answers', async () => {
  const summarizer = {
    name: 'silent',
    asksModel: true,
    summarize: () => new Promise<never>(() => undefined),
  };
  const compactor = compactorUnderTest({ ...settingsFor(0.6), summarizer });
  const run = await compactor.manually(conversation, AbortSignal.timeout(50));

  expect(run).toMatchObject({ status: 'failed', value: conversation });
}, 5000);
