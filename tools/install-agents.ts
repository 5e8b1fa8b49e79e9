/**
 * Installs the agents that tests run with, beside the project: `npm run agents`, a part of `npm test`. What cannot be installed is
 * named by the tests that skip it. ROUNDFOLD_CLIENTS names another folder.
 */
import { agentNames, installAgents, whyMissing } from '../test/support/agents/install.ts';

installAgents();
for (const name of agentNames) process.stdout.write(`${name}: ${whyMissing(name) ?? 'installed'}\n`);
