import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { type LaunchPlan, type Maker, withoutSlash } from '../../proxy/clients/client.ts';
import { clientFor, clients } from '../../proxy/clients.ts';
import { type CommandDefinition, readNumber } from '../command.ts';
import { EXIT_CODE_TEXT, type ExitCode } from '../exit-codes.ts';
import type { Report } from '../output.ts';
import { askProgram, runProgram } from '../run/child.ts';
import { type RunAccount, summaryLines } from '../run/summary.ts';
import { addToTally, emptyTally } from '../run/tally.ts';
import { overStore, type StoreWork, storeOption } from '../store.ts';

const modes = ['fold', 'observe'] as const;

/** `roundfold run`: a client with a proxy of its own in front of it. Ends with what the client ends with. */
export const run: CommandDefinition = {
  name: 'run',
  summary: 'start an agent with a proxy of its own, so that long conversations just work',
  arguments: '<command...>',
  argumentHelp: `the client and its arguments: ${clients.flatMap(({ commands }) => commands).join(', ')}, or any program`,
  takesCommandLine: true,
  options: [
    { flags: '--mode <name>', help: 'fold, or observe to change nothing; default fold', choices: modes },
    { flags: '--window <tokens>', help: "window of every model; default: each model's own" },
    storeOption,
  ],
  examples: [
    ['roundfold run claude', 'Claude Code'],
    ['roundfold run codex exec "Read the code."', 'what follows the client is given to it as it stands'],
    ['roundfold run --window 200000 -- my-agent --fast', 'any program that reads the usual variables'],
  ],
  details: () => `Requests go on to where the environment pointed before: ANTHROPIC_BASE_URL, OPENAI_BASE_URL,
GOOGLE_GEMINI_BASE_URL, or the provider that the client's own config names. What is set for
the client is printed first. Files of the client's are not changed.

Ends with the client's own exit code.
${EXIT_CODE_TEXT}
`,
  run: (given, report) => overStore(given, report, runClient),
};

async function runClient({ given, report, access }: StoreWork): Promise<ExitCode> {
  const store = access.forWriting();
  const [command, ...args] = given.positional;
  if (command === undefined) throw new RoundfoldError('usage', 'there is no client to start');
  const { env } = process;
  const plan = clientFor(command).plan({
    args,
    env,
    readText,
    ask: (words) => askProgram({ command, args: words, env }),
  });
  // Loaded here, so that help and other commands do without.
  const { startProxy } = await import('../../proxy/server.ts');
  const { createObservation } = await import('../../proxy/observe/observation.ts');
  const { watchStore } = await import('../../proxy/observe/store-watch.ts');
  const tally = emptyTally();
  const watch = watchStore(store, { say: (line) => report.terminal.talk(`roundfold ${line}\n`) });
  const { observer, pages, wishesOf, ledger } = await createObservation({
    store,
    observers: [{ exchange: (record) => addToTally(tally, record) }, watch],
  });
  await watch.begin(observer.keeperEvent);
  const proxy = await startProxy({
    store,
    threads: access.opening,
    // One person starts it, whose login may be renewed while it runs.
    tenant: 'local',
    mode: modes.find((mode) => mode === given.text('mode')),
    windowTokens: readNumber(given, 'window', { from: 1000 }),
    upstreams: rulesOf(plan),
    ...{ observer, pages, wishesOf },
  });
  try {
    return await launch({ command, plan, proxyUrl: proxy.url }, report);
  } finally {
    watch.close();
    await proxy.close();
    saySummary(report, { tally, money: ledger.money(), health: ledger.health() });
  }
}

/** Every upstream has a path of its own, behind which the client's paths stand as they are. */
function rulesOf({ upstreams }: LaunchPlan) {
  return Object.entries(upstreams).map(([maker, url]) => ({ url: originOf(url), path: `/${maker}` }));
}

function originOf(url: string): string {
  if (URL.canParse(url)) return new URL(url).origin;
  throw new RoundfoldError('usage', 'the address that the client would use is no URL', {
    remedy:
      'Look at ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL and the config of the client.',
  });
}

interface Started {
  readonly command: string;
  readonly plan: LaunchPlan;
  /** Where the proxy listens. */
  readonly proxyUrl: string;
}

async function launch({ command, plan, proxyUrl }: Started, { terminal }: Report): Promise<ExitCode> {
  const folder = await mkdtemp(join(tmpdir(), 'roundfold-run-'));
  try {
    const filePath = join(folder, 'extension.mjs');
    const proxied = (maker: Maker): string =>
      `${proxyUrl}/${maker}${withoutSlash(new URL(plan.upstreams[maker] ?? proxyUrl).pathname)}`;
    const { args, env, file, told } = plan.launch(proxied, filePath);
    if (file !== undefined) await writeFile(filePath, file, { mode: 0o600 });
    const behind = [...new Set(Object.values(plan.upstreams).map(originOf))].join(', ');
    terminal.talk(`roundfold ${proxyUrl}/roundfold/ in front of ${printable(behind, 400)}\n`);
    for (const line of told) terminal.talk(`  ${printable(line, 1000)}\n`);
    const code = await runProgram({ command, args, env: { ...process.env, ...env } });
    return code as ExitCode; // the client's own, whatever it means
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function saySummary({ terminal }: Report, account: RunAccount): void {
  for (const [index, line] of summaryLines(account).entries()) {
    terminal.talk(`${index === 0 ? 'roundfold ' : '  '}${printable(line, 400)}\n`);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
