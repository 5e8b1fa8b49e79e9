/** Saved chats: where they are, how they are written and read. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { UndoRecord } from '../compaction/plan/plan.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import type { RunAccounts } from './chat-compactor.ts';
import type { Change, DialogueState } from './dialogue.ts';

/** A chat as it is saved. */
export interface SavedChat extends DialogueState {
  /** Wire format of the messages. */
  readonly format: string;
  readonly model: string;
  readonly pins: readonly string[];
  readonly accounts?: ChatAccounts | undefined;
}

/** What a chat has taken, so that it can be told the next day too. */
export interface ChatAccounts {
  readonly spent: Spent;
  /** When the newest request was sent, in milliseconds: its prompt cache expires some time after that. */
  readonly askedAt: number | undefined;
  readonly runs: RunAccounts | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where chats are kept: `$XDG_STATE_HOME/roundfold/chat`, or below `~/.local/state`. */
export function sessionFolder(environment: Environment): string {
  const state = environment['XDG_STATE_HOME'];
  // The specification says to ignore paths that are relative.
  const base =
    state !== undefined && isAbsolute(state)
      ? state
      : join(environment['HOME'] ?? homedir(), '.local', 'state');
  return join(base, 'roundfold', 'chat');
}

/** A new place in the folder, named after the time. */
export function newSessionPath(folder: string, now: Date): string {
  return join(folder, `${now.toISOString().replaceAll(/[:.]/g, '-')}.jsonl`);
}

/**
 * The saved chat of that name, or the newest.
 * @throws RoundfoldError `usage` when there is none
 */
export function findSession(folder: string, name: string | undefined): string {
  const files = listSessions(folder);
  const wanted =
    name === undefined ? files[0] : files.find((file) => file === name || file === `${name}.jsonl`);
  if (wanted !== undefined) return join(folder, wanted);
  const what = name === undefined ? 'no chat has been saved yet' : 'no saved chat has that name';
  throw new RoundfoldError('usage', what, {
    remedy: files.length === 0 ? 'Start one without --resume.' : `The newest is ${files[0]}.`,
  });
}

/** Names of the files, the one that was written last first. */
function listSessions(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => ({ name, time: statSync(join(folder, name)).mtimeMs }))
      .sort((left, right) => right.time - left.time || (left.name < right.name ? 1 : -1))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

const HEADER = 'roundfold-chat';

/** A chat as lines of JSON: a header, the messages as they are, then undo records. */
export function formatSession({ format, model, pins, accounts, messages, done, undone }: SavedChat): string {
  const lines = [
    { type: HEADER, version: 1, format, model, pins, accounts },
    ...messages,
    ...done.map((change) => ({ type: 'roundfold-compaction', isUndone: false, ...change })),
    ...undone.map((change) => ({ type: 'roundfold-compaction', isUndone: true, ...change })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/**
 * Reads a saved chat; undefined when the file is none.
 * @throws RoundfoldError `usage` when there is no such file, `input-not-understood` when it is damaged
 */
export function readSession(path: string): SavedChat | undefined {
  const [header, ...lines] = readLines(path);
  if (!isObject(header) || header['type'] !== HEADER) return undefined;
  if (header['version'] !== 1) {
    throw new RoundfoldError('input-not-understood', 'the chat was saved by a later version', {
      place: { source: path },
      remedy: 'Use the version that wrote it, or a later one.',
    });
  }
  const changes = lines.filter(isChange);
  const toChange = ({ strategy, undo, before, after }: JsonObject): Change => ({
    strategy: asString(strategy) ?? '',
    undo: undo as UndoRecord, // our own record, written by us
    before: Number(before),
    after: asList(after),
  });
  return {
    format: asString(header['format']) ?? '',
    model: asString(header['model']) ?? '',
    pins: asList(header['pins']).map(String),
    accounts: readAccounts(header['accounts']),
    messages: lines.filter((line) => !isChange(line)),
    done: changes.filter(({ isUndone }) => isUndone !== true).map(toChange),
    undone: changes.filter(({ isUndone }) => isUndone === true).map(toChange),
  };
}

function readAccounts(value: unknown): ChatAccounts | undefined {
  if (!isObject(value)) return undefined;
  const { spent, askedAt, runs } = value;
  const isOurs =
    isObject(runs) &&
    [runs['state'], runs['ledger']].every((part) => isObject(part) && part['version'] === 1);
  return {
    spent: readSpent(spent),
    askedAt: typeof askedAt === 'number' ? askedAt : undefined,
    runs: isOurs ? (runs as unknown as RunAccounts) : undefined, // our own record, written by us
  };
}

function isChange(line: unknown): line is JsonObject {
  return isObject(line) && line['type'] === 'roundfold-compaction';
}

function readLines(path: string): readonly unknown[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw unreadable(path, cause);
  }
  try {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): unknown => JSON.parse(line));
  } catch {
    // Some other file, for those who read any.
    return [];
  }
}

function unreadable(path: string, cause: unknown): RoundfoldError {
  return new RoundfoldError('usage', `${path} cannot be read`, { cause, remedy: 'Check the name.' });
}

/** What a chat has taken so far. Plain data. */
export interface Spent {
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Of models that wrote summaries: beside the requests of the chat itself. */
  readonly summaries: Usage;
}

export const nothingSpent: Spent = {
  requests: 0,
  promptTokens: 0,
  outputTokens: 0,
  summaries: { promptTokens: 0, outputTokens: 0 },
};

export function addRequest(spent: Spent, usage: Usage): Spent {
  return { ...spent, ...sum(spent, usage), requests: spent.requests + 1 };
}

export function addSummary(spent: Spent, usage: Usage | undefined): Spent {
  return usage === undefined ? spent : { ...spent, summaries: sum(spent.summaries, usage) };
}

/** What was saved; nothing where there is nothing to read. */
function readSpent(value: unknown): Spent {
  if (!isObject(value)) return nothingSpent;
  const summaries = isObject(value['summaries']) ? value['summaries'] : {};
  return { requests: asCount(value['requests']), ...readTokens(value), summaries: readTokens(summaries) };
}

function readTokens(value: Readonly<Record<string, unknown>>): Usage {
  return { promptTokens: asCount(value['promptTokens']), outputTokens: asCount(value['outputTokens']) };
}

function sum(one: Usage, other: Usage): Usage {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}
