import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { agentsFolder } from './agents/install.ts';

/** Agents that run without a network against a simulator. */
export type ClientName = 'codex' | 'pi' | 'opencode';

/** Where a client works, and whom it asks. */
export interface ClientPlace {
  /** An empty folder that stands for the user's home. */
  readonly home: string;
  /** The folder it works in. */
  readonly folder: string;
  /** Where the simulator listens. */
  readonly url: string;
  readonly model: string;
  /** pi: `openai-responses` or `anthropic-messages`; OpenCode: the package of its provider. */
  readonly api?: string;
}

/** The program of a client: where `npm run agents` puts it, else on the path. */
export function findClient(name: ClientName): string | undefined {
  const folders = [join(agentsFolder, 'node_modules/.bin'), ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** Said by every test that needs a client that is not there. */
export function clientIsMissing(name: ClientName): string {
  return `${name} is not installed here (npm run agents installs it)`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Variables under which a client sees nothing but its place. */
export function clientEnvironment(name: ClientName, { home }: ClientPlace): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    FAKE_KEY: 'sk-fake',
    CODEX_HOME: join(home, '.codex'),
    PI_CODING_AGENT_DIR: join(home, '.pi/agent'),
    PI_OFFLINE: '1',
    PI_SKIP_VERSION_CHECK: '1',
    PI_TELEMETRY: '0',
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_SHARE: '1',
    // Whatever would leave this machine ends at a closed port.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    ...(name === 'codex' ? { RUST_LOG: 'error' } : {}),
  };
}

/** Writes the configuration that sends a client to the simulator. */
export function configureClient(name: ClientName, place: ClientPlace): void {
  const write = { codex: configureCodex, pi: configurePi, opencode: configureOpencode }[name];
  write(place);
}

function configureCodex({ home, url, model }: ClientPlace): void {
  writeIn(
    join(home, '.codex'),
    'config.toml',
    `model = "${model}"
model_provider = "sim"
check_for_update_on_startup = false
[model_providers.sim]
name = "sim"
base_url = "${url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[features]
plugins = false
apps = false
[analytics]
enabled = false
`,
  );
}

function configurePi({ home, url, model, api = 'anthropic-messages' }: ClientPlace): void {
  const known = {
    id: model,
    name: model,
    reasoning: true,
    input: ['text', 'image'],
    contextWindow: 1_000_000,
    maxTokens: 16_000,
    cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
  };
  const baseUrl = api === 'anthropic-messages' ? url : `${url}/v1`;
  const provider = { baseUrl, api, apiKey: 'sk-fake', models: [known] };
  writeIn(join(home, '.pi/agent'), 'models.json', JSON.stringify({ providers: { sim: provider } }));
}

function configureOpencode({ home, url, model, api = '@ai-sdk/anthropic' }: ClientPlace): void {
  const limit = { context: 1_000_000, output: 8000 };
  const attachments = { input: ['text', 'image', 'pdf'], output: ['text'] };
  const known = {
    name: model,
    tool_call: true,
    reasoning: true,
    attachment: true,
    modalities: attachments,
    limit,
  };
  const provider = {
    npm: api,
    name: 'sim',
    options: { baseURL: `${url}/v1`, apiKey: 'sk-fake' },
    models: { [model]: known },
  };
  const config = {
    autoupdate: false,
    share: 'disabled',
    permission: { '*': 'allow' },
    model: `sim/${model}`,
    small_model: `sim/${model}`,
    provider: { sim: provider },
  };
  writeIn(join(home, '.config/opencode'), 'opencode.json', JSON.stringify(config));
}

function writeIn(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** How a client ended. */
export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CLIENT_TIMEOUT_MS = 90_000;

/** Runs a client to its end; its input is empty. */
export async function runClient(
  name: ClientName,
  place: ClientPlace,
  args: readonly string[],
): Promise<ClientRun> {
  const program = findClient(name);
  if (program === undefined) throw new Error(clientIsMissing(name));
  mkdirSync(place.folder, { recursive: true });
  const child = spawn(program, args, {
    cwd: place.folder,
    env: clientEnvironment(name, place),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CLIENT_TIMEOUT_MS,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
}
