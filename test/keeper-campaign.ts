/**
 * Lets clients do as they please with keepers for many steps, and prints the seed, the progress and the counts. A failure
 * prints the smallest case that shows it and exits with 1.
 *
 *     node test/keeper-campaign.ts [--steps 5000000] [--seed N]
 */
import { noCounts, worldProperty } from './support/keeper-commands.ts';
import { runWorlds } from './support/world-campaign.ts';

const REUSE = 0.999;

await runWorlds({
  counts: noCounts(),
  property: worldProperty,
  conclude({ reused, noisy }) {
    const reuse = reused / Math.max(1, noisy);
    return { text: `${(reuse * 100).toFixed(3)} % reused under noise`, isFine: reuse >= REUSE };
  },
});
