/** The agent sessions of the corpus: which files, which of their recordings, and which project each is about. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { type Recording, readRecordings } from '../../src/transcripts/recordings.ts';
import { corpusFolder, corpusIsMissing } from '../../test/support/corpus.ts';

/** A file of recorded sessions. */
export interface SessionFile {
  /** Path inside the corpus. */
  readonly file: string;
  /** What recorded its sessions. */
  readonly harness: string;
  /** What its sessions work on. Sessions on one project share names without these being generic. */
  readonly project: string;
  /** Whether each recording is a session of its own. Otherwise the file is one session, side chains included. */
  readonly holdsMany: boolean;
}

const AGENT_FOLDERS: readonly string[] = ['claude-code', 'codex-rollout', 'pi-session'];

/** Beginnings of file names, and the project that these sessions work on. */
const PROJECTS: readonly (readonly [beginning: string, project: string])[] = [
  ['entire-cli-', 'entire'],
  ['git-sync-', 'entire'],
  ['claude-code-viewer-', 'claude-code-viewer'],
  ['openai-codex-', 'codex'],
  ['pi-mono-', 'pi'],
  ['openhands-', 'django'],
  ['tau-bench-', 'tau-bench'],
  ['kilocode-', 'kilocode'],
  ['marshmallow-', 'marshmallow'],
  ['gemini-cli-', 'gemini-cli'],
  ['opencode-', 'opencode'],
];

/** Files in folders that are not called by what recorded them. */
const HARNESSES: ReadonlyMap<string, string> = new Map([
  ['openhands-swebench-django-final-calls.jsonl.gz', 'openhands'],
  ['tau-bench-gpt4o-airline-tasks0-24.jsonl.gz', 'tau-bench'],
  ['kilocode-api_conversation_history.json.gz', 'kilocode'],
]);

/** A fork shares most of its history with its parent: the two are one session. */
const FORKS: ReadonlyMap<string, string> = new Map([
  ['codex-rollout/git-sync-019d7e2f-54dfc9.jsonl.gz', 'codex-rollout/git-sync-019d7e48-ba4b96.jsonl.gz'],
]);

/** Sessions of coding agents: Claude Code, Codex, pi, OpenHands. */
export function agentFiles(): readonly SessionFile[] {
  const files = AGENT_FOLDERS.flatMap((folder) => listFolder(folder)).map((file) => describe(file, false));
  return [...files, describe('openai-chat/openhands-swebench-django-final-calls.jsonl.gz', true)];
}

/** Dialogues of a customer service. */
export function serviceFiles(): readonly SessionFile[] {
  return [describe('openai-chat/tau-bench-gpt4o-airline-tasks0-24.jsonl.gz', true)];
}

/** More projects, to tell which names are generic. */
export function otherFiles(): readonly SessionFile[] {
  const folders = ['anthropic-messages', 'gemini', 'swe-agent', 'opencode'];
  return folders.flatMap((folder) => listFolder(folder)).map((file) => describe(file, true));
}

function listFolder(folder: string): readonly string[] {
  if (corpusFolder === undefined) throw new Error(corpusIsMissing);
  return readdirSync(join(corpusFolder, folder))
    .toSorted()
    .map((file) => `${folder}/${file}`);
}

function describe(file: string, holdsMany: boolean): SessionFile {
  const name = file.slice(file.indexOf('/') + 1);
  const project = PROJECTS.find(([beginning]) => name.startsWith(beginning))?.[1] ?? name;
  const harness = HARNESSES.get(name) ?? file.slice(0, file.indexOf('/'));
  return { file, harness, project, holdsMany };
}

/** A recording and the session it counts for. */
export interface SessionRecording {
  readonly session: string;
  readonly project: string;
  readonly recording: Recording;
}

/** Reads the recordings of a file, in order. */
export async function readSessions({
  file,
  project,
  holdsMany,
}: SessionFile): Promise<readonly SessionRecording[]> {
  const found: SessionRecording[] = [];
  const base = FORKS.get(file) ?? file;
  for await (const recording of readRecordings(await fileSource(join(corpusFolder ?? '', file)))) {
    // Trials of one task are no sessions of their own: `task 7, trial 1`.
    const [title] = recording.transcript.title.split(',');
    const session = holdsMany ? `${base}#${title}` : base;
    found.push({ session, project, recording });
  }
  return found;
}
