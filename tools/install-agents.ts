/**
 * Installs the agents that tests run with, beside the project: `npm run agents`. Tests that need one install it themselves,
 * or look for it below the folder in ROUNDFOLD_CLIENTS.
 */
import { agentNames, installAgents, whyMissing } from '../test/support/agents/install.ts';

installAgents();
for (const name of agentNames) process.stdout.write(`${name}: ${whyMissing(name) ?? 'installed'}\n`);
