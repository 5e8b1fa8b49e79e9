import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createScript, type ScriptCall } from '../../../src/simulator/scripted.ts';
import { type RecordedRequest, startSimulator } from '../../../src/simulator/simulator.ts';
import { type AgentName, pathWithAgents } from './install.ts';

const main = resolve(import.meta.dirname, '../../../dist/cli/main.js');

/** One way to start an agent. */
export interface AgentCase {
  readonly agent: AgentName | 'claude';
  readonly title: string;
  /** Arguments besides those that every run has. */
  readonly args: readonly string[];
  /** How its model reads a part. */
  readonly call: ScriptCall;
  /** Window of the simulated model. */
  readonly windowTokens: number;
  /** Its model, where that is not among the arguments or others are asked as well. */
  readonly model?: string;
}

/** What came of a session. */
export interface AgentSession {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What reached the simulated provider. */
  readonly requests: readonly RecordedRequest[];
}

export const request = 'Read all the parts and tell me when you are done.';
export const answer = 'All {rounds} parts are read.';

const PART_LINES = 70;
const SESSION_MS = 150_000;

/**
 * Has an agent read so many files, one in each round, in a home of its own and with a provider on this machine.
 * @param through `run`: started by `roundfold run`, which is told the window or not; `direct`: with nothing in between
 * @param between starts a server in front of the provider, for an agent that is sent there instead
 */
export async function playSession(
  given: AgentCase,
  rounds: number,
  through: 'run' | 'run-without-window' | 'direct',
  between?: (url: string) => Promise<{ readonly url: string; close(): Promise<void> }>,
): Promise<AgentSession> {
  const home = mkdtempSync(join(tmpdir(), `roundfold-${given.agent}-`));
  const work = join(home, 'work');
  mkdirSync(work);
  for (let part = 1; part <= rounds; part++) writeFileSync(join(work, `part-${part}.txt`), partText(part));
  const requests: RecordedRequest[] = [];
  const simulator = await startSimulator({
    windowTokens: given.windowTokens,
    script: createScript({ rounds, steps: [{ text: 'Part {round}.', calls: [given.call] }], answer }),
    onRequest: (recorded) => requests.push(recorded),
  });
  const front = await between?.(simulator.url);
  try {
    const launch = launches[given.agent](given, { home, url: front?.url ?? simulator.url, through });
    const window = through === 'run' ? ['--window', `${given.windowTokens}`] : [];
    const [command = '', ...args] =
      through === 'direct'
        ? [given.agent, ...launch.args]
        : [process.execPath, main, 'run', ...window, given.agent, ...launch.args];
    const env = {
      PATH: pathWithAgents(),
      HOME: home,
      TERM: 'dumb',
      ROUNDFOLD_STORE: join(home, 'store.sqlite'),
      ANTHROPIC_BASE_URL: simulator.url,
      OPENAI_BASE_URL: `${simulator.url}/v1`,
      GOOGLE_GEMINI_BASE_URL: simulator.url,
      // Whatever an agent wants from elsewhere, it does not get.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1',
      ...launch.env,
    };
    return { ...(await runToEnd(command, args, work, env)), requests };
  } finally {
    await front?.close();
    await simulator.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function partText(part: number): string {
  const lines = Array.from(
    { length: PART_LINES },
    (_, line) =>
      `part ${part}, line ${line}: the wall of the harbour bears mark ${(part * 7919 + line * 104_729) % 100_003}\n`,
  );
  return lines.join('');
}

interface Place {
  readonly home: string;
  readonly url: string;
  readonly through: 'run' | 'run-without-window' | 'direct';
}

interface AgentLaunch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How each agent is started. A proxy's address is never among it: `roundfold run` has to see to that. */
const launches: Readonly<Record<AgentCase['agent'], (given: AgentCase, place: Place) => AgentLaunch>> = {
  // No free software: only where somebody has it, by hand (tools/claude-code-session.ts).
  claude: ({ args }) => ({
    args: ['-p', request, '--allowedTools', 'Bash', '--output-format', 'json', ...args],
    env: {
      ANTHROPIC_API_KEY: 'sk-none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),

  codex({ args }, { home, url, through }) {
    const codexHome = join(home, 'codex');
    mkdirSync(codexHome);
    const settings = [
      'check_for_update_on_startup=false',
      'features.plugins=false',
      'features.apps=false',
      'analytics.enabled=false',
      ...(through === 'direct' ? [`openai_base_url="${url}/v1"`] : []),
    ];
    return {
      args: [
        'exec',
        ...settings.flatMap((setting) => ['-c', setting]),
        ...args,
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '--json',
        request,
      ],
      env: { CODEX_HOME: codexHome, CODEX_API_KEY: 'sk-none' },
    };
  },

  gemini({ args }, { home }) {
    mkdirSync(join(home, '.gemini'));
    const settings = {
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'gemini-api-key' } },
    };
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    return {
      args: [...args, '-y', '-p', request],
      env: { GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    };
  },

  opencode({ args, model = '' }, { home, url, through }) {
    const address = (path: string) => ({ options: { baseURL: `${url}${path}` } });
    const config = {
      autoupdate: false,
      share: 'disabled',
      permission: { '*': 'allow' },
      model,
      small_model: model,
      ...(through === 'direct' ? { provider: { anthropic: address('/v1'), openai: address('/v1') } } : {}),
    };
    return {
      args: ['run', ...args, request],
      env: {
        XDG_CONFIG_HOME: join(home, 'config'),
        XDG_DATA_HOME: join(home, 'data'),
        XDG_STATE_HOME: join(home, 'state'),
        XDG_CACHE_HOME: join(home, 'cache'),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        ANTHROPIC_API_KEY: 'sk-none',
        OPENAI_API_KEY: 'sk-none',
      },
    };
  },

  pi({ args }, { home, url, through }) {
    const folder = join(home, 'pi');
    mkdirSync(folder);
    const providers = { anthropic: { baseUrl: url }, openai: { baseUrl: `${url}/v1` } };
    if (through === 'direct') writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers }));
    return {
      args: [...args, '-p', request],
      env: {
        PI_CODING_AGENT_DIR: folder,
        PI_OFFLINE: '1',
        ANTHROPIC_API_KEY: 'sk-none',
        OPENAI_API_KEY: 'sk-none',
      },
    };
  },
};

function runToEnd(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Omit<AgentSession, 'requests'>> {
  return new Promise((done, fail) => {
    const child = spawn(command, [...args], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SESSION_MS,
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      said.stdout += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.stderr += chunk.toString('utf8');
    });
    child.on('error', fail);
    child.on('close', (code) => done({ code, ...said }));
  });
}
