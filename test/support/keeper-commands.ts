import fc from 'fast-check';
import { grownItems, type Noise, upToQuestion } from './keeper-items.ts';
import { type Client, KeeperWorld, type WorldCounts } from './keeper-world.ts';
import { type SummaryPlan, type WorldStrategy, worldStrategies } from './summary-oracle.ts';

/** Nothing has to be predicted: the world's oracle knows what is true. */
type Model = object;
type Command = fc.AsyncCommand<Model, KeeperWorld>;

function command(name: string, run: (world: KeeperWorld) => Promise<void> | void): Command {
  return { check: () => true, run: async (_model, world) => run(world), toString: () => name };
}

const pick = (world: KeeperWorld, index: number): Client => {
  const client = world.clients[index % world.clients.length];
  if (client === undefined) throw new Error('there is always a client');
  return client;
};

function grow(world: KeeperWorld, client: Client, rounds: number): void {
  client.items = grownItems(client.items, rounds, () => world.nonce());
}

const clientIndex = fc.nat(5);
/** How a client writes the same messages this time. */
export const noise: fc.Arbitrary<Noise> = fc.record({
  markerAt: fc.integer({ min: -1, max: 40 }),
  swapsKeys: fc.boolean(),
  writesBlocks: fc.boolean(),
});
/** How summaries come out. */
export const plan: fc.Arbitrary<SummaryPlan> = fc.record({
  kind: fc.constantFrom('fine', 'fine', 'fine', 'failed', 'empty', 'throws'),
  turnsLate: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 })),
});

const turn = fc.tuple(clientIndex, fc.nat(3)).map(([index, rounds]) =>
  command(`turn(${index}, ${rounds})`, (world) => {
    const client = pick(world, index);
    grow(world, client, rounds);
    return world.send(client, undefined);
  }),
);

const noisyTurn = fc.tuple(clientIndex, fc.nat(2), noise).map(([index, rounds, how]) =>
  command(`noisy(${index}, ${rounds}, ${JSON.stringify(how)})`, (world) => {
    const client = pick(world, index);
    if (rounds > 0 || client.items.length === 0) grow(world, client, rounds);
    return world.send(client, how);
  }),
);

const edit = fc.tuple(clientIndex, fc.nat(200)).map(([index, place]) =>
  command(`edit(${index}, ${place})`, (world) => {
    const client = pick(world, index);
    if (client.items.length === 0) return;
    const at = place % client.items.length;
    client.items = client.items.map((item, each) => (each === at ? { ...item, nonce: world.nonce() } : item));
    return world.send(client, undefined);
  }),
);

const cutAndGoOn = fc.tuple(clientIndex, fc.nat(200), fc.nat(2)).map(([index, place, rounds]) =>
  command(`rewind(${index}, ${place}, ${rounds})`, (world) => {
    const client = pick(world, index);
    if (client.items.length === 0) return;
    client.items = upToQuestion(client.items, 1 + (place % client.items.length));
    grow(world, client, rounds);
    return world.send(client, undefined);
  }),
);

const regenerate = clientIndex.map((index) =>
  command(`regenerate(${index})`, (world) => {
    const client = pick(world, index);
    if (client.items.length < 3) return;
    client.items = upToQuestion(client.items, client.items.length - 1);
    grow(world, client, 0);
    return world.send(client, undefined);
  }),
);

const branch = fc.tuple(clientIndex, fc.boolean()).map(([index, crosses]) =>
  command(`branch(${index}, ${crosses})`, (world) => {
    const { tenant, items } = pick(world, index);
    const other = tenant === 'alpha' ? 'beta' : 'alpha';
    const copy: Client = { tenant: crosses ? other : tenant, items, last: undefined };
    if (world.clients.length < 5) world.clients.push(copy);
    else world.clients[index % world.clients.length] = copy;
    return items.length === 0 ? undefined : world.send(copy, undefined);
  }),
);

const summaries = plan.map((next) =>
  command(`summaries(${next.kind}, ${next.turnsLate} late)`, (world) => {
    world.summaryPlan = next;
  }),
);

const restart = fc.constant(command('restart', (world) => world.restart()));
const failures = fc.integer({ min: 1, max: 6 }).map((count) =>
  command(`failures(${count})`, (world) => {
    world.failures = count;
  }),
);

const commands = fc.commands(
  [
    // Mostly the conversation goes on.
    ...[turn, turn, turn, turn, turn, turn, noisyTurn, noisyTurn, noisyTurn],
    ...[edit, cutAndGoOn, regenerate, branch, summaries, summaries, restart, failures],
  ],
  { maxCommands: 160, size: 'max' },
);

/** Worlds with any strategy that makes records of another kind. */
export function worldProperty(counts: WorldCounts): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(
    fc.constantFrom(...(Object.keys(worldStrategies) as WorldStrategy[])),
    commands,
    async (strategy, list) => {
      const world = new KeeperWorld(counts, strategy);
      await fc.asyncModelRun(() => ({ model: {}, real: world }), list);
      await world.end();
    },
  );
}

/** Nothing seen yet. */
export function noCounts(): WorldCounts {
  return { steps: 0, compactions: 0, folded: 0, reduced: 0, noisy: 0, reused: 0 };
}
