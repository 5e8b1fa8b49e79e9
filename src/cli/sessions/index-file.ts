import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import type { AgentEnvironment } from '../../transcripts/agent-folders.ts';
import { makePrivateFolder, writePrivateFile } from '../files.ts';
import type { SessionFile } from './find-files.ts';
import type { Look } from './look.ts';

/** What earlier looks found in files that have not changed since. */
export interface LookIndex {
  find(file: SessionFile): Look | undefined;
  add(file: SessionFile, look: Look): void;
  /** Writes what was added. An index that cannot be written costs time, not results. */
  save(): void;
}

interface Entry {
  readonly sizeBytes: number;
  readonly changedMs: number;
  readonly look: Look;
}

const TYPE = 'roundfold-sessions';

/** Looks are worth nothing to another version, whose prices and rules may differ. Files that are gone are forgotten. */
export function openIndex(environment: AgentEnvironment, version: string): LookIndex {
  const path = indexPath(environment);
  const known = readIndex(path, version);
  const kept = new Map<string, Entry>();
  let isChanged = false;
  return {
    find(file) {
      const entry = known.get(file.path);
      const isSame = entry?.sizeBytes === file.sizeBytes && entry.changedMs === file.changedMs;
      if (entry === undefined || !isSame) return undefined;
      kept.set(file.path, entry);
      return entry.look;
    },
    add({ path: file, sizeBytes, changedMs }, look) {
      kept.set(file, { sizeBytes, changedMs, look });
      isChanged = true;
    },
    save() {
      if (!isChanged) return;
      const entries = [...new Map([...known, ...kept])].filter(([file]) => existsSync(file));
      try {
        makePrivateFolder(path);
        const text = JSON.stringify({ version: 1, type: TYPE, by: version, entries });
        writePrivateFile(path, `${text}\n`, { kind: 'index', isForced: false });
      } catch (error) {
        if (!RoundfoldError.is(error)) throw error;
      }
    },
  };
}

function indexPath({ home, variables }: AgentEnvironment): string {
  const cache = variables['XDG_CACHE_HOME'] || join(home, '.cache');
  return join(cache, 'roundfold', 'sessions.json');
}

function readIndex(path: string, version: string): Map<string, Entry> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isObject(value) || value['type'] !== TYPE || value['by'] !== version) return new Map();
    return new Map(value['entries'] as [string, Entry][]); // our own file, of this very version
  } catch {
    return new Map();
  }
}
