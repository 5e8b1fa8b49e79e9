/**
 * Has Claude Code work through 60 rounds in a small window, once by itself and once behind `roundfold run`, offline, and says
 * what came of it. Needs `claude` on the path and the built package: `npm run build && node tools/claude-code-session.ts`.
 * Claude Code is no free software, so this is run by hand where somebody has it, and never by the tests.
 */
import { spawnSync } from 'node:child_process';
import { clientCompaction } from '../src/formats/client-compaction.ts';
import { readConversation } from '../src/formats/registry.ts';
import { type AgentCase, type AgentSession, answer, playSession } from '../test/support/agents/session.ts';

const ROUNDS = 60;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const claude: AgentCase = {
  agent: 'claude',
  title: 'Claude Code',
  args: ['--model', 'claude-sonnet-4-5'],
  call: { tool: 'Bash', input: { command: 'cat part-{round}.txt', description: 'Reads a part' } },
  windowTokens: 60_000,
};

function describeSession({ code, stdout, stderr, requests }: AgentSession): readonly string[] {
  const models = requests.filter(({ method, format }) => method === 'POST' && format !== undefined);
  const summaries = models.filter(
    ({ body, format }) => clientCompaction(readConversation(body, format)) !== undefined,
  );
  const isRight = stdout.includes(answer.replace('{rounds}', `${ROUNDS}`));
  return [
    `exit code ${code}, ${isRight ? 'the right answer' : 'no answer'}`,
    `${models.length} requests, ${models.filter(({ status }) => status >= 400).length} refused, ${summaries.length} compactions of its own`,
    `largest prompt ${Math.max(0, ...models.map(({ promptTokens = 0 }) => promptTokens))} tokens`,
    ...stderr.split('\n').filter((line) => /^roundfold|^ {2}(?:tokens|cost|passed|window)/.test(line)),
  ];
}

const version = spawnSync('claude', ['--version'], { encoding: 'utf8' });
if (version.status === 0) {
  say(`Claude Code ${version.stdout.trim()}, ${ROUNDS} rounds, ${claude.windowTokens} tokens`);
  for (const through of ['direct', 'run'] as const) {
    say(`\n${through === 'run' ? 'behind roundfold run' : 'by itself'}`);
    for (const line of describeSession(await playSession(claude, ROUNDS, through))) say(`  ${line}`);
  }
} else {
  process.stderr.write('there is no claude on the path\n');
  process.exitCode = 1;
}
