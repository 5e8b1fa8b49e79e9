import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../../src/proxy/config.ts';
import { createLedger } from '../../src/proxy/observe/ledger.ts';
import { refusalWords } from '../../src/proxy/observe/words.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { openStore } from '../../src/stores/registry.ts';
import { createAgent } from '../support/anthropic-agent.ts';
import { runCli } from '../support/cli.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { untilResults } from '../support/proxied.ts';
import { snippetsOf } from '../support/snippets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const drainSeconds = configSchema.parse({}).drainSeconds;

function blockOf(language: string): string {
  const [block, ...others] = snippetsOf('docs/proxy.md').filter((each) => each.language === language);
  if (block === undefined || others.length > 0)
    throw new Error(`docs/proxy.md has not one ${language} block`);
  return block.text;
}

/** `roundfold` as a program in a folder that PATH names, as a global installation makes it. */
function installed(): { readonly program: string; readonly path: string } {
  const bin = join(folder.path, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = join(bin, 'roundfold');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
  chmodSync(program, 0o755);
  return { program, path: `${bin}:/usr/bin:/bin` };
}

/** Ends when it has said where it listens. */
async function untilListening(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((found, fail) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const url = /ANTHROPIC_BASE_URL=(\S+)\n/.exec(said)?.[1];
      if (url !== undefined) found(`http://127.0.0.1:${new URL(url).port}`);
    });
    child.on('close', () => fail(new Error(`it ended: ${said}`)));
  });
}

async function endOf(child: ChildProcess): Promise<unknown> {
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  return (await closed)[0];
}

describe('the configuration in docs/proxy.md', () => {
  it('is accepted as it stands', async () => {
    const file = folder.write('sample.json', blockOf('json'));
    const { code, stdout } = await runCli(['proxy', '--config', file, '--print-config']);
    expect(code).toBe(0);
    expect(stdout).toContain('tenantHeader = "x-team"');
  });
});

describe('the systemd unit in docs/proxy.md', () => {
  const unit = blockOf('ini');
  const valuesOf = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  it('is one that systemd takes', () => {
    // What is to be run has to exist for the check.
    const file = folder.write(
      'roundfold-proxy.service',
      unit.replace('/usr/local/bin/roundfold', installed().program),
    );
    const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    if (error !== undefined) {
      console.log('systemd-analyze is not installed: the unit was read by this test alone');
      return;
    }
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('writes only where systemd makes a folder for it, and is given time to drain', () => {
    const [command = ''] = valuesOf('ExecStart');
    expect(command).toContain(`--log /var/log/${valuesOf('LogsDirectory')[0]}/`);
    expect(command).toContain(`--config /etc/${valuesOf('ConfigurationDirectory')[0]}/`);
    expect(valuesOf('Environment')).toEqual([`XDG_DATA_HOME=/var/lib/${valuesOf('StateDirectory')[0]}`]);
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(drainSeconds);
  });

  it('starts a proxy with its command line and environment, which ends in peace', async () => {
    const root = join(folder.path, 'root');
    for (const name of ['etc/roundfold', 'var/log/roundfold', 'var/lib/roundfold'])
      mkdirSync(join(root, name), { recursive: true });
    const placed = (text: string) => text.replaceAll(/\/(?=(?:etc|var)\/)/g, `${root}/`);
    writeFileSync(
      join(root, 'etc/roundfold/proxy.json'),
      '{ "port": 0, "mode": "observe" } // try this first',
    );
    const [program, ...args] = placed(valuesOf('ExecStart')[0] ?? '').split(' ');
    expect(program).toBe('/usr/local/bin/roundfold');
    const environment = Object.fromEntries(valuesOf('Environment').map((each) => placed(each).split('=')));
    const child = spawn(installed().program, args, {
      env: {
        PATH: '/usr/bin:/bin',
        ...environment,
        ROUNDFOLD_STORE_SECRET: 'a secret of the environment file',
      },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const url = await untilListening(child);

    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await endOf(child)).toBe(0);
    expect(statSync(join(root, 'var/log/roundfold/proxy.log')).mode & 0o777).toBe(0o600);
  });
});

interface Service {
  readonly image?: string;
  readonly build?: { readonly dockerfile_inline: string };
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly configs?: readonly { readonly source: string }[];
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
}

describe('the compose file in docs/proxy.md', () => {
  const { services, configs, volumes } = parse(blockOf('yaml')) as {
    readonly services: Readonly<Record<'balancer' | 'proxy' | 'database', Service>>;
    readonly configs: Readonly<Record<string, { readonly content: string }>>;
    readonly volumes: object;
  };
  const { balancer, proxy, database } = services;
  const port = configSchema.parse({}).port;
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('names services, volumes and packages that exist, and gives the proxy time to drain', () => {
    const { name, version, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly name: string;
      readonly version: string;
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    const [, packages = ''] = /npm install --global (.*)\n/.exec(proxy.build?.dockerfile_inline ?? '') ?? [];
    const [own, pg = ''] = packages.split(' ');
    expect(own, 'docs/proxy.md names the version that it is part of').toBe(`${name}@${version}`);
    const oldest = /\d+\.\d+/.exec(peerDependencies['pg'] ?? '')?.[0];
    expect(pg.startsWith(`pg@${oldest}.`)).toBe(true);
    expect(database.volumes?.map((each) => each.split(':')[0])).toEqual(Object.keys(volumes));
    expect(Number.parseInt(proxy.stop_grace_period ?? '', 10)).toBeGreaterThan(drainSeconds);
    const { username, password, hostname, pathname } = new URL(proxy.environment?.['ROUNDFOLD_STORE'] ?? '');
    const user = database.environment?.['POSTGRES_USER'];
    // The image makes a database of the user's name.
    expect([username, password, hostname, pathname]).toEqual([user, '', 'database', `/${user}`]);
    expect(proxy.environment?.['PGPASSWORD']).toBe(database.environment?.['POSTGRES_PASSWORD']);
  });

  it('takes images of one version each, waits for what each service needs, and can be reached', () => {
    const images = [
      balancer.image,
      database.image,
      /FROM (\S+)/.exec(proxy.build?.dockerfile_inline ?? '')?.[1],
    ];
    for (const image of images) expect(image).toMatch(/^[a-z]+:\d+\.\d+/);
    const isHealthy = { condition: 'service_healthy' };
    expect([balancer.depends_on, proxy.depends_on]).toEqual([{ proxy: isHealthy }, { database: isHealthy }]);
    for (const { healthcheck } of [proxy, database]) expect(healthcheck?.test[0]).toBe('CMD');
    expect(balancer.ports).toEqual([`${port}:${port}`]);
    const content = configs[balancer.configs?.[0]?.source ?? '']?.content ?? '';
    expect(content).toMatch(new RegExp(`^:${port} \\{`));
    expect(content).toContain(`dynamic a proxy ${port} `);
  });

  it('starts a proxy with its command and environment: it keeps folds in PostgreSQL, and a signal to the first process ends it in peace', async () => {
    const address = await server.createDatabase();
    const simulator = await startSimulator({ windowTokens: 60_000, script: untilResults(1000) });
    onTestFinished(() => simulator.close());
    const [program, ...args] = proxy.command ?? [];
    expect(program).toBe('roundfold');
    const { username, password, host, pathname } = new URL(address);
    const token = 'a token of the environment';
    expect(Object.keys(proxy.environment ?? {})).toEqual([
      'ROUNDFOLD_TOKEN',
      'ROUNDFOLD_STORE',
      'PGPASSWORD',
    ]);
    const child = spawn(installed().program, args, {
      env: {
        PATH: installed().path,
        HOME: folder.path,
        ROUNDFOLD_TOKEN: token,
        ROUNDFOLD_STORE: `postgres://${username}@${host}${pathname}`,
        PGPASSWORD: decodeURIComponent(password),
        ROUNDFOLD_PORT: '0',
        ROUNDFOLD_WINDOW: '16000',
        ROUNDFOLD_UPSTREAMS: JSON.stringify([{ url: simulator.url }]),
      },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const url = await untilListening(child);
    const [, node = '', ...check] = proxy.healthcheck?.test ?? [];
    expect(node).toBe('node');
    const checked = (at: string) =>
      spawnSync(
        process.execPath,
        check.map((each) => each.replace(`http://127.0.0.1:${port}`, at)),
      ).status;
    expect([checked(url), checked('http://127.0.0.1:1')]).toEqual([0, 1]);

    const agent = createAgent(url, [{ role: 'user', content: 'Read all files and report.' }]);
    expect((await agent.step()).status).toBe(401);
    await agent.work(40, { headers: { 'x-roundfold-token': token } });
    expect(await endOf(child)).toBe(0);
    const store = openStore(address);
    onTestFinished(() => store.close());
    expect(await store.list()).toHaveLength(1);
  });
});

describe('the alarms in docs/proxy.md', () => {
  const [, section = ''] = readFileSync('docs/proxy.md', 'utf8').split('## What to watch\n');
  const rules = [...section.matchAll(/^\| `(.*?[^\\])` +\|/gm)].map(([, rule = '']) => rule);

  it('are about metrics, labels and reasons that exist', () => {
    const names = createLedger()
      .metrics()
      .map(({ name }) => name);
    expect(rules).toHaveLength(5);
    for (const rule of rules) {
      const [metric = ''] = /roundfold_\w+/.exec(rule) ?? [];
      expect(names).toContain(metric.replace(/_bucket$/, ''));
      const reasons = /reason=~?"([^"]+)"/.exec(rule)?.[1]?.split('\\|') ?? [];
      for (const reason of reasons) expect(Object.keys(refusalWords)).toContain(reason);
    }
  });
});
