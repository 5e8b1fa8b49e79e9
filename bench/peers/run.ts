/**
 * Other ways to shorten a conversation beside this one, on the same conversations in the same run: how long they take and
 * how many of their outputs a provider would refuse.
 *
 * Installs pinned versions into `.peers`, beside the project and never among its dependencies. A package that cannot be had
 * is named as missing. Times are for the 1M-token session of 10,000 messages of `bench/compaction.ts`, cut to half; what is
 * roundfold's includes reading and counting. Only tokens are a budget for some: the table says what each keeps.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Peer } from './peer.ts';
import { peers } from './registry.ts';
import { ABORTED_CONVERSATIONS, CONVERSATIONS, LOADER, type Speed, type Validity } from './results.ts';

const FOLDER = resolve(import.meta.dirname, '../../.peers');
const LIMIT_MS = 120_000;

/** The version that is installed; undefined when there is none. */
function installedVersion(name: string): string | undefined {
  const manifest = join(FOLDER, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string };
  return version;
}

/** Makes the folder that the packages are installed in. */
function prepareFolder(): void {
  mkdirSync(FOLDER, { recursive: true });
  const manifest = join(FOLDER, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n');
  writeFileSync(join(FOLDER, LOADER), 'export const load = (specifier) => import(specifier);\n');
}

/** Whether the package is there, after an attempt to install it. */
function install({ package: name, version }: Peer): boolean {
  if (version === '' || installedVersion(name) === version) return true;
  console.log(`installing ${name}@${version}`);
  const options = ['--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error'];
  spawnSync('npm', ['install', ...options, `${name}@${version}`], { cwd: FOLDER, stdio: 'inherit' });
  return installedVersion(name) === version;
}

/** What the measurement of a peer found, or in words why there is nothing. */
interface Measured<Result> {
  readonly found: Result | undefined;
  readonly why: string;
}

function measure<Result>({ name }: Peer, kind: 'speed' | 'validity'): Measured<Result> {
  const script = join(import.meta.dirname, 'measure.ts');
  const { stdout, stderr, error } = spawnSync(process.execPath, [script, name, kind, FOLDER], {
    timeout: LIMIT_MS,
    encoding: 'utf8',
  });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (line.startsWith('{')) return { found: JSON.parse(line) as Result, why: '' }; // printed by our own script
  if (error !== undefined) return { found: undefined, why: `>${LIMIT_MS / 1000} s` };
  console.log(`${name}, ${kind}: ${stderr.trim()}`);
  return { found: undefined, why: 'failed' };
}

prepareFolder();
const missing = peers.filter((peer) => !install(peer));
for (const { package: name, version } of missing) console.log(`missing: ${name}@${version}`);

/** The first row, which the others are compared with. */
let own: Speed | undefined;
let failures = 0;
const rows = peers.filter((peer) => !missing.includes(peer)).map(toRow);
console.table(rows);
console.log(
  `× is against the first row; a measurement is given up after ${LIMIT_MS / 1000} s. Broken: a call or a result without its other half is left of ${ABORTED_CONVERSATIONS} conversations with aborted rounds.`,
);
process.exitCode = failures === 0 ? 0 : 1;

function toRow(peer: Peer): Readonly<Record<string, string>> {
  const speed = measure<Speed>(peer, 'speed');
  const validity = measure<Validity>(peer, 'validity');
  if (speed.why === 'failed' || validity.why === 'failed') failures++;
  own ??= speed.found;
  const time = (key: keyof Speed) => speed.found?.[key].toFixed(1) ?? speed.why;
  const ratio = (key: keyof Speed) =>
    speed.found === undefined || own === undefined ? '' : (speed.found[key] / own[key]).toFixed(2);
  const share = (key: keyof Validity, of: number) =>
    validity.found === undefined ? validity.why : ((validity.found[key] / of) * 100).toFixed(1);
  return {
    peer: `${peer.name}${peer.version === '' ? '' : ` ${peer.version}`}`,
    keeps: peer.keeps,
    'first ms': time('firstMs'),
    'later ms': time('laterMs'),
    'first ×': ratio('firstMs'),
    'later ×': ratio('laterMs'),
    'rejected %': share('rejected', CONVERSATIONS),
    'not user-first %': share('notUserFirst', CONVERSATIONS),
    'broken after aborts %': share('broken', ABORTED_CONVERSATIONS),
  };
}
