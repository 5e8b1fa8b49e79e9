/**
 * Puts into the lockfile what `npm install` leaves out when a registry does not serve the binaries of other platforms:
 * an entry for each optional dependency, so that `npm ci` works everywhere. Run after every change of dependencies.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lockfile {
  packages: Record<string, Entry>;
}

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm64',
  'arm',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

/** `@scope/tool-linux-x64-musl` says itself where it runs. */
function platformOf(name: string): { os?: string[]; cpu?: string[]; libc?: string[] } {
  const words = name.split(/[-/]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  const isMusl = words.some((word) => word.startsWith('musl'));
  const isGnu = words.some((word) => word.startsWith('gnu'));
  return {
    ...(os === undefined ? {} : { os: [os] }),
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(isMusl ? { libc: ['musl'] } : isGnu ? { libc: ['glibc'] } : {}),
  };
}

/** Where a package that depends on another one finds it: beside itself, or in the folders above. */
function findEntry(packages: Lockfile['packages'], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

const file = new URL('../package-lock.json', import.meta.url);
const lockfile = JSON.parse(readFileSync(file, 'utf8')) as Lockfile;
let added = 0;
for (const [path, { optionalDependencies = {}, dev, peer }] of Object.entries(lockfile.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const found = findEntry(lockfile.packages, path, name);
    if (found !== undefined && lockfile.packages[found]?.version === version) continue;
    if (!/^\d/.test(version)) continue;
    const target = found === undefined ? `node_modules/${name}` : `${path}/node_modules/${name}`;
    const flags = { ...(dev ? { dev } : {}), ...(peer ? { peer } : {}) };
    const entry = { version, ...platformOf(name), ...flags, optional: true };
    lockfile.packages[target] = entry;
    added++;
  }
}
const sorted = Object.fromEntries(
  Object.entries(lockfile.packages).sort(([left], [right]) => (left < right ? -1 : 1)),
);
writeFileSync(file, `${JSON.stringify({ ...lockfile, packages: sorted }, null, 2)}\n`);
process.stdout.write(`${added} entries added\n`);
