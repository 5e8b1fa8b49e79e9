import fc from 'fast-check';
import { noise, plan } from './keeper-commands.ts';
import { grownItems, upToQuestion } from './keeper-items.ts';
import { overflowWordings, type UpstreamPlan } from './proxy-upstream.ts';
import { type ProxyClient, type ProxyCounts, type ProxyTerms, ProxyWorld } from './proxy-world.ts';

/** Nothing has to be predicted: the world judges everything that is sent. */
type Model = object;
type Command = fc.AsyncCommand<Model, ProxyWorld>;

/** How much happens before the next command: turns of everybody at work, and milliseconds. */
type Pause = readonly [turns: number, milliseconds: number];

const MOST_CLIENTS = 6;
// Some conversations have to become long.
const clientIndex = fc.oneof(
  { weight: 3, arbitrary: fc.nat(1) },
  { weight: 2, arbitrary: fc.nat(MOST_CLIENTS) },
);
const instance = fc.nat(4);
const pause: fc.Arbitrary<Pause> = fc.oneof(
  // Mostly everything comes to its end, and sometimes hardly anything happens.
  { weight: 3, arbitrary: fc.constant([24, 4000] as const) },
  { weight: 2, arbitrary: fc.tuple(fc.nat(12), fc.nat(3000)) },
);

function command(name: string, [turns, milliseconds]: Pause, act: (world: ProxyWorld) => void): Command {
  return {
    check: () => true,
    async run(_model, world) {
      act(world);
      await world.pass(turns, milliseconds);
    },
    toString: () => `${name} then ${turns} turns, ${milliseconds} ms`,
  };
}

const pick = (world: ProxyWorld, index: number): ProxyClient => {
  const client = world.clients[index % world.clients.length];
  if (client === undefined) throw new Error('there is always a client');
  return client;
};

function grow(world: ProxyWorld, client: ProxyClient, rounds: number): void {
  client.items = grownItems(client.items, rounds, () => world.nonce());
}

const turn = fc.tuple(clientIndex, fc.nat(3), instance, pause).map(([index, rounds, at, after]) =>
  command(`turn(${index}, ${rounds}, ${at})`, after, (world) => {
    grow(world, pick(world, index), rounds);
    world.send(pick(world, index), { instance: at });
  }),
);

const noisyTurn = fc
  .tuple(clientIndex, fc.nat(2), instance, noise, pause)
  .map(([index, rounds, at, how, after]) =>
    command(`noisy(${index}, ${rounds}, ${at}, ${JSON.stringify(how)})`, after, (world) => {
      if (rounds > 0) grow(world, pick(world, index), rounds);
      world.send(pick(world, index), { instance: at, noise: how });
    }),
  );

const edit = fc.tuple(clientIndex, fc.nat(200), instance, pause).map(([index, place, at, after]) =>
  command(`edit(${index}, ${place}, ${at})`, after, (world) => {
    const client = pick(world, index);
    const edited = place % Math.max(1, client.items.length);
    client.items = client.items.map((item, each) =>
      each === edited ? { ...item, nonce: world.nonce() } : item,
    );
    world.send(client, { instance: at });
  }),
);

const rewind = fc
  .tuple(clientIndex, fc.nat(200), fc.nat(2), instance, pause)
  .map(([index, place, rounds, at, after]) =>
    command(`rewind(${index}, ${place}, ${rounds}, ${at})`, after, (world) => {
      const client = pick(world, index);
      client.items = upToQuestion(client.items, 1 + (place % Math.max(1, client.items.length)));
      grow(world, client, rounds);
      world.send(client, { instance: at });
    }),
  );

const branch = fc.tuple(clientIndex, fc.boolean(), instance, pause).map(([index, crosses, at, after]) =>
  command(`branch(${index}, ${crosses}, ${at})`, after, (world) => {
    const { credential, items } = pick(world, index);
    const other = credential === 'alpha' ? 'beta' : 'alpha';
    const copy: ProxyClient = { credential: crosses ? other : credential, items, sent: [] };
    if (world.clients.length < MOST_CLIENTS) world.clients.push(copy);
    else world.clients[index % world.clients.length] = copy;
    world.send(copy, { instance: at });
  }),
);

/** The same request again, while the first may be under way; or an older one, that took another way. */
const again = fc.tuple(clientIndex, fc.nat(3), instance, pause).map(([index, back, at, after]) =>
  command(`again(${index}, ${back}, ${at})`, after, (world) => {
    const client = pick(world, index);
    const items = client.sent[back];
    if (items !== undefined) void world.sendItems(client, items, { instance: at });
  }),
);

const twoAtOnce = fc.tuple(clientIndex, fc.nat(2), instance, pause).map(([index, rounds, at, after]) =>
  command(`twice(${index}, ${rounds}, ${at})`, after, (world) => {
    const client = pick(world, index);
    grow(world, client, rounds);
    world.send(client, { instance: at });
    world.send(client, { instance: at + 1 });
  }),
);

const special = fc
  .tuple(
    clientIndex,
    fc.constantFrom('bypassed', 'compaction', 'count', 'fragment', 'unreadable'),
    instance,
    pause,
  )
  .map(([index, kind, at, after]) =>
    command(`${kind}(${index}, ${at})`, after, (world) =>
      world.send(pick(world, index), { kind, instance: at }),
    ),
  );

const cancel = fc
  .tuple(fc.nat(5), pause)
  .map(([index, after]) => command(`cancel(${index})`, after, (world) => world.cancel(index)));

const summaries = fc.tuple(plan, pause).map(([next, after]) =>
  command(`summaries(${next.kind}, ${next.turnsLate} late)`, after, (world) => {
    world.summaryPlan = next;
  }),
);

const upstreamPlan: fc.Arbitrary<UpstreamPlan> = fc.record({
  kind: fc.constantFrom(
    ...(['fine', 'limited', 'broken', 'overloaded', 'cut', 'stalled', 'no-connection', 'refusing'] as const),
  ),
  milliseconds: fc.constantFrom(0, 100, 5000, 400_000),
  streams: fc.boolean(),
  wording: fc.constantFrom(...overflowWordings),
});
const upstream = fc.tuple(upstreamPlan, fc.integer({ min: 1, max: 8 }), pause).map(([next, calls, after]) =>
  command(`upstream(${JSON.stringify(next)}, ${calls} calls)`, after, (world) => {
    world.upstreamPlan = next;
    world.upstreamCalls = calls;
  }),
);

const trueWindow = fc
  .tuple(fc.constantFrom(0.7, 0.85, 1, 1), pause)
  .map(([share, after]) => command(`window(${share})`, after, (world) => world.setWindow(share)));

const storePlan = fc.record({
  kind: fc.constantFrom('refused', 'lost', 'slow'),
  operations: fc.integer({ min: 1, max: 8 }),
});
const storeFails = fc.tuple(storePlan, pause).map(([next, after]) =>
  command(`store(${next.kind}, ${next.operations})`, after, (world) => {
    world.storePlan = next;
  }),
);
const storeGone = fc.tuple(fc.nat(60_000), pause).map(([milliseconds, after]) =>
  command(`gone(${milliseconds})`, after, (world) => {
    world.storeGoneUntil = world.time.now + milliseconds;
  }),
);

const crash = fc
  .tuple(instance, pause)
  .map(([at, after]) => command(`crash(${at})`, after, (world) => world.crash(at)));
const crashLater = fc.tuple(fc.nat(20), pause).map(([calls, after]) =>
  command(`crashAt(${calls})`, after, (world) => {
    world.crashAt = calls;
  }),
);
const clock = fc
  .tuple(instance, fc.constantFrom(-3_600_000, -20_000, 20_000, 3_600_000), pause)
  .map(([at, milliseconds, after]) =>
    command(`clock(${at}, ${milliseconds})`, after, (world) => world.jump(at, milliseconds)),
  );

const commands = fc.commands(
  [
    // Mostly conversations go on.
    ...[turn, turn, turn, turn, turn, turn, turn, noisyTurn, noisyTurn, twoAtOnce],
    ...[edit, rewind, branch, again, again, special, cancel],
    ...[summaries, upstream, upstream, trueWindow, storeFails, storeGone, crash, crashLater, clock],
  ],
  { maxCommands: 240, size: 'max' },
);

const terms: fc.Arbitrary<ProxyTerms> = fc.record({
  strategy: fc.constantFrom('summarize', 'ladder', 'clear-tool-results'),
  instances: fc.integer({ min: 2, max: 5 }),
});

/** Worlds in which anything may go wrong. */
export function proxyProperty(counts: ProxyCounts): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(terms, commands, async (given, list) => {
    const world = new ProxyWorld(counts, given);
    await fc.asyncModelRun(() => ({ model: {}, real: world }), list);
    await world.end();
  });
}

/** Nothing seen yet. */
export function noProxyCounts(): ProxyCounts {
  return {
    ...{ steps: 0, requests: 0, answered: 0, folded: 0, reduced: 0, recovered: 0, refused: 0 },
    ...{ saved: 0, crashes: 0, storeFaults: 0 },
  };
}
