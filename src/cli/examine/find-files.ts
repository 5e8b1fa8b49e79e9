import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RoundfoldError } from '../../conversation/errors.ts';
import {
  type AgentEnvironment,
  claudeProjects,
  codexSessions,
  geminiSessions,
  opencodeData,
  piSessions,
} from '../../transcripts/agent-folders.ts';

/** A file that may hold sessions, and what tells whether it has changed. */
export interface SessionFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** When its content or its permissions were changed last. Nobody can set that back. */
  readonly changedMs: number;
}

/** Where agents keep sessions, and which of the files there are some. */
const homes: readonly {
  readonly folder: (environment: AgentEnvironment) => string;
  readonly isSession: (path: string) => boolean;
}[] = [
  { folder: claudeProjects, isSession: (path) => path.endsWith('.jsonl') },
  { folder: codexSessions, isSession: (path) => /rollout-[^/]*\.jsonl$/.test(path) },
  { folder: piSessions, isSession: (path) => path.endsWith('.jsonl') },
  { folder: opencodeData, isSession: (path) => path.endsWith('/opencode.db') },
  { folder: geminiSessions, isSession: (path) => /\/chats\/[^/]+\.jsonl?$/.test(path) },
];

/** The session files of all agents that this user has. */
export function findAgentFiles(environment: AgentEnvironment): readonly SessionFile[] {
  return homes.flatMap(({ folder, isSession }) => filesBelow(folder(environment), isSession));
}

/** Files that may hold conversations. */
const READABLE = /\.(?:jsonl?|ndjson|traj)(?:\.(?:gz|zst|br))?$|\/opencode\.db$/;

/**
 * The files that a path stands for: itself, or everything readable below a folder.
 * @throws RoundfoldError `input-not-understood` when it does not exist
 */
export function findFiles(path: string): readonly SessionFile[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new RoundfoldError('input-not-understood', `${path} does not exist`, {
      place: { source: path },
      remedy: 'Name a file or a folder that is there.',
    });
  }
  return found.isDirectory() ? filesBelow(path, (each) => READABLE.test(each)) : [fileOf(path)].flat();
}

/** Folders as everything readable below them; all else as it is, so that whoever reads an empty folder refuses it. */
export function expandFolders(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    const isFolder = path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const files = isFolder ? findFiles(path).map((file) => file.path) : [];
    return files.length === 0 ? [path] : files;
  });
}

/** The files of a list that may name some that are not there: whoever reads them says so. */
export function sizedFiles(paths: readonly string[]): readonly SessionFile[] {
  return paths.map((path) => fileOf(path)[0] ?? { path, sizeBytes: 0, changedMs: 0 });
}

function fileOf(path: string): readonly SessionFile[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  // SQLite keeps what is new beside the database until it finds the time to put it in.
  const log = path.endsWith('.db') ? statSync(`${path}-wal`, { throwIfNoEntry: false }) : undefined;
  const changedMs = Math.max(found.ctimeMs, log?.ctimeMs ?? 0);
  return [{ path, sizeBytes: found.size + (log?.size ?? 0), changedMs }];
}

const SKIPPED = new Set(['node_modules', '.git']);

/** In the order of their names. Links to folders are not followed, and folders that may not be read are left out. */
function filesBelow(folder: string, isWanted: (path: string) => boolean): readonly SessionFile[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesBelow(path, isWanted);
    return entry.isFile() && isWanted(path) ? fileOf(path) : [];
  });
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((left, right) =>
      left.name < right.name ? -1 : 1,
    );
  } catch {
    return [];
  }
}
