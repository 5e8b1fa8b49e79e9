import type { CommandDefinition } from '../command.ts';
import { STORE_HELP, storeOption, tenantOption } from '../store.ts';

/** `roundfold hook`: what an agent calls by itself before and after its own compaction. */
export const hook: CommandDefinition = {
  name: 'hook',
  summary: "keep a session before its agent compacts it, and give back what the agent's summary forgot",
  arguments: '<agent>',
  argumentHelp: 'claude-code: reads the event of a PreCompact or SessionStart hook from standard input',
  options: [tenantOption, storeOption],
  examples: [
    [
      'roundfold hook claude-code < event.json',
      'as PreCompact and SessionStart hook in the settings of Claude Code',
    ],
  ],
  details: () => `Before a compaction (PreCompact) the whole transcript goes into the store. After it
(SessionStart with the source "compact") the state of the work, what the user asked
for and the handles of what left are given back as context. Whatever goes wrong is
said on standard error with exit code 1, which does not keep the agent from working.

${STORE_HELP}`,
  async run(given, report) {
    // Loaded here, so that help and other commands do without.
    const { runHook } = await import('./hook-run.ts');
    return runHook(given, report);
  },
};
