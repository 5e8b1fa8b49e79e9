import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import type { AgentEnvironment } from '../../transcripts/agent-folders.ts';
import { makePrivateFolder, writePrivateFile } from '../files.ts';
import type { ExaminedFile, ExamineTask } from './examine-file.ts';
import type { SessionFile } from './find-files.ts';

/** What earlier looks found in files that have not changed since. */
export interface FileIndex<Found> {
  find(file: SessionFile): ExaminedFile<Found> | undefined;
  add(file: SessionFile, examined: ExaminedFile<Found>): void;
  /** Writes what was added. An index that cannot be written costs time, not results. */
  save(): void;
}

/** What makes findings worth keeping: the same task by the same version, whose prices and rules do not differ. */
interface IndexedTask {
  readonly by: string;
  readonly task: ExamineTask;
}

interface Entry<Found> extends SessionFile {
  /** Options that it was examined with. */
  readonly asked: string;
  readonly examined: ExaminedFile<Found>;
}

/** Files with longer findings are read again: the index is to stay small. */
const LONGEST_ENTRY = 250_000;

/** Opens the index of a command. Files that are gone are forgotten when it is written. */
export function openIndex<Found>(environment: AgentEnvironment, { by, task }: IndexedTask): FileIndex<Found> {
  const path = indexPath(environment, task);
  const asked = JSON.stringify([task.options, task.reading]);
  const entries = readIndex<Found>(path, by);
  let isChanged = false;
  return {
    find(file) {
      const entry = entries.get(resolve(file.path));
      const isSame =
        entry?.path === file.path &&
        entry.sizeBytes === file.sizeBytes &&
        entry.changedMs === file.changedMs &&
        entry.asked === asked;
      return isSame ? entry.examined : undefined;
    },
    add({ path: file, sizeBytes, changedMs }, examined) {
      entries.set(resolve(file), { path: file, sizeBytes, changedMs, asked, examined });
      isChanged = true;
    },
    save() {
      if (!isChanged) return;
      const lines = [...entries]
        .filter(([file]) => existsSync(file))
        .map((entry) => JSON.stringify(entry))
        .filter((line) => line.length <= LONGEST_ENTRY);
      try {
        makePrivateFolder(path);
        // Whatever stands in this place of our own is an index, perhaps a broken one.
        writePrivateFile(path, indexText(by, lines), { kind: 'index', isForced: true });
      } catch (error) {
        if (!RoundfoldError.is(error)) throw error;
      }
    },
  };
}

function indexPath({ home, variables }: AgentEnvironment, { command }: ExamineTask): string {
  const cache = variables['XDG_CACHE_HOME'] || join(home, '.cache');
  return join(cache, 'roundfold', `${command}.jsonl`);
}

const TYPE = 'roundfold-index';

/** A line about the index, with the digest of all that follows, and a line for each file. */
function indexText(by: string, lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join('');
  return `${JSON.stringify({ version: 2, type: TYPE, by, sha256: digestOf(body) })}\n${body}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Empty unless this very version wrote it, and every byte is as it was written. */
function readIndex<Found>(path: string, by: string): Map<string, Entry<Found>> {
  try {
    const text = readFileSync(path, 'utf8');
    const end = text.indexOf('\n') + 1;
    const head: unknown = JSON.parse(text.slice(0, end));
    const body = text.slice(end);
    if (!isObject(head) || head['type'] !== TYPE || head['by'] !== by || head['sha256'] !== digestOf(body))
      return new Map();
    const lines = body.split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => JSON.parse(line) as [string, Entry<Found>])); // our own, by its digest
  } catch {
    return new Map();
  }
}
