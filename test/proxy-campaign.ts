/**
 * Lets clients, upstream, the store, the clock and the instances of a proxy do as they please for many steps, and prints
 * the seed, the progress and the counts. A failure prints the smallest case that shows it and exits with 1.
 *
 *     node test/proxy-campaign.ts [--steps 5000000] [--seed N]
 */
import { noProxyCounts, proxyProperty } from './support/proxy-commands.ts';
import { runWorlds } from './support/world-campaign.ts';

await runWorlds({
  counts: noProxyCounts(),
  property: proxyProperty,
  conclude: ({ requests, crashes, storeFaults }) => ({
    text: `${requests} requests, ${crashes} crashes, ${storeFaults} faults of the store`,
    isFine: true,
  }),
});
