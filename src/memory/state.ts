import type { FileChange } from './actions.ts';
import { commandKind, plainCommand, printedFile, shownCommand } from './commands.ts';
import type { Did, Happening } from './events.ts';
import type { KnownFiles } from './files.ts';
import { listedLines } from './results.ts';
import { outcomeLine } from './telling.ts';

/** A check and how its newest run ended. */
export interface Check {
  readonly command: string;
  readonly at: number;
  readonly isFailed: boolean;
  /** Whether an earlier memory says that files were changed after it. */
  readonly isOutdated: boolean;
  readonly outcome: string;
  readonly runs: number;
}

export interface Task {
  readonly id: string;
  text: string;
  status: string;
  detail: string | undefined;
}

export interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly branch: string;
  readonly at: number;
}

/** What held before the first event, as an earlier memory tells it. */
export interface EarlierState {
  readonly files: KnownFiles;
  readonly tasks: readonly Task[];
  readonly checks: readonly Check[];
  readonly branch: string | undefined;
  readonly workingTree: string | undefined;
  readonly commits: readonly Commit[];
  readonly made: readonly string[];
  readonly uncommitted: readonly string[];
}

/** What holds at the end of the events. */
export interface State {
  readonly files: KnownFiles;
  readonly checks: readonly Check[];
  readonly tasks: readonly Task[];
  /** Whether the newest list of tasks stays in the request, so that a memory need not tell it. */
  readonly areTasksKept: boolean;
  readonly branch: string | undefined;
  /** What the newest `git status` said. */
  readonly workingTree: string | undefined;
  readonly commits: readonly Commit[];
  /** Files that were changed since the last commit. */
  readonly uncommitted: readonly string[];
  /** When a file was last changed; -1 when none was. */
  readonly changedAt: number;
  /** What last put other versions of files into the working tree, and when. */
  readonly moved: { readonly at: number; readonly by: string } | undefined;
  /** Addresses that calls made: pull requests, deployments. */
  readonly made: readonly string[];
  readonly running: readonly { readonly id: string; readonly command: string }[];
  /** For each event that ran a command: whether a newer run of the same command follows. */
  readonly superseded: ReadonlySet<Did>;
}

const COMMIT = /\[([\w./#-]{1,200}?)(?: \([\w -]{1,20}\))? ([0-9a-f]{7,12})\] (.{1,200})/g;
const ON_BRANCH = /^(?:On branch |## )([\w./-]{1,200}?)(?:\.\.\.|$|\s)/m;
const SWITCHED = /(?:git (?:checkout|switch)) (?:-[bBcC] )?([\w./-]{1,200})/g;
const MADE =
  /https?:\/\/[^\s"'<>)\]]{1,300}\/(?:pull|pulls|issues|merge_requests|commit|releases)\/[\w-]{1,60}/g;
const GREP_LINE = /^([^\s:]{1,300}):(\d{1,7})[:-](.{0,400})$/;
const NUMBER_LINE = /^(\d{1,7})[:-](.{0,400})$/;
const MOST_GREP_LINES = 120;
const LONGEST_GIT_OUTPUT = 4000;
const CHANGES_TREE = /\bgit (?:commit|add|stash|reset|checkout|merge|rebase|restore)\b/;
/** Commands that put other versions of files into the working tree. A new branch does not. */
const MOVES_TREE =
  /\bgit (?:rebase|reset --hard|stash|pull|merge|checkout(?! -[bB]\b)|switch(?! -[cC]\b)|restore)\b/;
const NOTHING_CHANGED = /fatal:|error:|did not match/;

/** Folds events in order into what holds after the last of them. */
export function foldState(events: readonly Happening[], earlier: EarlierState): State {
  const folder = new StateFolder(earlier);
  for (const [place, event] of events.entries()) if (event.type === 'did') folder.add(event, place);
  return folder.state();
}

class StateFolder {
  private readonly files: KnownFiles;
  private readonly checks = new Map<string, Check>();
  private readonly lastRun = new Map<string, Did>();
  private readonly superseded = new Set<Did>();
  private readonly tasks = new Map<string, Task>();
  private areTasksKept = false;
  private branch: string | undefined;
  private workingTree: string | undefined;
  private readonly commits = new Map<string, Commit>();
  private readonly uncommitted = new Set<string>();
  private changedAt = -1;
  private moved: State['moved'];
  private readonly made = new Set<string>();
  private readonly running = new Map<string, string>();

  constructor(earlier: EarlierState) {
    this.files = earlier.files;
    for (const check of earlier.checks) this.checks.set(plainCommand(check.command), check);
    for (const task of earlier.tasks) this.tasks.set(task.id, { ...task });
    for (const commit of earlier.commits) this.commits.set(commit.hash, commit);
    for (const address of earlier.made) this.made.add(address);
    for (const path of earlier.uncommitted) this.uncommitted.add(path);
    this.branch = earlier.branch;
    this.workingTree = earlier.workingTree;
  }

  state(): State {
    return {
      files: this.files,
      checks: [...this.checks.values()].filter(isTold).toSorted((left, right) => left.at - right.at),
      tasks: [...this.tasks.values()],
      areTasksKept: this.areTasksKept,
      branch: this.branch,
      workingTree: this.workingTree,
      commits: [...this.commits.values()],
      uncommitted: [...this.uncommitted],
      changedAt: this.changedAt,
      moved: this.moved,
      made: [...this.made],
      running: [...this.running].map(([id, command]) => ({ id, command })),
      superseded: this.superseded,
    };
  }

  add(event: Did, place: number): void {
    const { action, isRefused, isFailed } = event;
    if (isRefused) return;
    switch (action.kind) {
      case 'change':
        if (!isFailed) this.change(action.files, place);
        break;
      case 'look':
        this.look(event, place);
        break;
      case 'search':
        this.grep(event.result?.text ?? '', action.where, place);
        break;
      case 'run':
        this.run(event, action.command, place);
        break;
      case 'poll':
        if (event.result?.running === undefined) this.running.delete(action.session);
        break;
      case 'tasks':
        this.addTasks(event);
        break;
      default:
        break;
    }
  }

  private change(changes: readonly FileChange[], place: number): void {
    for (const change of changes) {
      const file = this.files.at(change.path);
      file.change(change, place);
      this.uncommitted.add(file.path);
    }
    this.changedAt = place;
  }

  private look({ action, result, isFailed }: Did, place: number): void {
    if (action.kind !== 'look' || result === undefined || isFailed) return;
    const parts =
      action.files.length === 1
        ? [result.text]
        : splitByFile(
            result.text,
            action.files.map(({ path }) => path),
          );
    for (const [index, { path, from }] of action.files.entries()) {
      const text = parts[index];
      if (text !== undefined) this.files.at(path).look(listedLines(text, from ?? 1), place);
    }
  }

  private run(event: Did, command: string, place: number): void {
    const { result, isFailed } = event;
    const plain = plainCommand(command);
    const before = this.lastRun.get(plain);
    if (before !== undefined) this.superseded.add(before);
    this.lastRun.set(plain, event);
    if (result?.running !== undefined && commandKind(command) !== 'look')
      this.running.set(result.running, plain);
    const text = result?.text ?? '';
    const printed = printedFile(command);
    if (printed !== undefined && !isFailed) {
      this.files.at(printed.path).look(listedLines(text, printed.from), place);
      return;
    }
    const kind = commandKind(command);
    if (kind === 'look') this.grep(text, undefined, place);
    if (kind === 'check' || (kind === 'do' && before !== undefined && text !== ''))
      this.check(command, text, isFailed, place);
    this.git(command, text, place);
  }

  private check(command: string, text: string, isFailed: boolean, at: number): void {
    const plain = plainCommand(command);
    const runs = (this.checks.get(plain)?.runs ?? 0) + 1;
    this.checks.delete(plain);
    this.checks.set(plain, {
      command: shownCommand(command),
      isOutdated: false,
      at,
      isFailed,
      outcome: outcomeLine(text, isFailed) ?? '',
      runs,
    });
  }

  private git(command: string, text: string, at: number): void {
    if (!/\b(?:git|gh)\b/.test(command)) return;
    const head = text.slice(0, LONGEST_GIT_OUTPUT);
    if (CHANGES_TREE.test(command)) this.workingTree = undefined;
    const by = MOVES_TREE.exec(command)?.[0];
    if (by !== undefined && !NOTHING_CHANGED.test(head)) this.moved = { at, by };
    if (/\bgit status\b/.test(command)) this.workingTree = statusOf(head);
    this.branch = ON_BRANCH.exec(head)?.[1] ?? switchedTo(command, text) ?? this.branch;
    this.addCommits(head, /--amend/.test(command));
    if (/\b(?:create|push)\b/.test(command))
      for (const [address] of head.matchAll(MADE)) this.made.add(address);
  }

  private addCommits(text: string, isAmended: boolean): void {
    for (const [, branch = '', hash = '', subject = ''] of text.matchAll(COMMIT)) {
      if (isAmended) this.dropLastCommit();
      this.uncommitted.clear();
      this.commits.set(hash, { hash, subject: subject.trim(), branch, at: this.commits.size });
      if (branch !== 'detached HEAD') this.branch = branch;
    }
  }

  private dropLastCommit(): void {
    const last = [...this.commits.keys()].at(-1);
    if (last !== undefined) this.commits.delete(last);
  }

  private grep(text: string, where: string | undefined, place: number): void {
    const lines = text.split('\n', MOST_GREP_LINES);
    for (const line of lines) {
      const full = GREP_LINE.exec(line);
      const short = full === null && where !== undefined ? NUMBER_LINE.exec(line) : null;
      const path = full?.[1] ?? (short === null ? undefined : where);
      const number = full?.[2] ?? short?.[1];
      const shown = full?.[3] ?? short?.[2];
      if (path === undefined || number === undefined || shown === undefined || shown.trim() === '') continue;
      // A compiler names the column as well: what follows is its message and no line of the file.
      if (!/[./]/.test(path) || /^\d{1,4}:/.test(shown)) continue;
      this.files.at(path).look([{ number: Number(number), text: shown }], place);
    }
  }

  private addTasks({ action, result, isKept }: Did): void {
    if (action.kind !== 'tasks') return;
    this.areTasksKept = isKept && action.isWhole;
    if (action.isWhole) this.tasks.clear();
    for (const [index, item] of action.items.entries()) {
      const id =
        item.id ??
        /#(\d{1,6})/.exec(result?.text.slice(0, 200) ?? '')?.[1] ??
        `${action.isWhole ? index + 1 : this.tasks.size + 1}`;
      const known = this.tasks.get(id);
      if (known === undefined) {
        if (item.text === undefined) continue;
        this.tasks.set(id, { id, text: item.text, status: item.status ?? 'pending', detail: item.detail });
        continue;
      }
      known.status = item.status ?? known.status;
      known.text = item.text ?? known.text;
      known.detail = item.detail ?? known.detail;
    }
  }
}

/** The branch that a command has gone over to; undefined where it did not. */
function switchedTo(command: string, text: string): string | undefined {
  if (!/\bgit (?:checkout|switch)\b/.test(command) || NOTHING_CHANGED.test(text)) return undefined;
  const names = [...command.matchAll(SWITCHED)].map(([, name = '']) => name);
  return names.findLast((name) => !name.startsWith('-') && name !== '.');
}

const MOST_STATUS_LINES = 12;

function statusOf(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('(use ') && !/^On branch|^## /.test(line));
  return lines.length === 0 ? undefined : lines.slice(0, MOST_STATUS_LINES).join(' | ');
}

function isTold({ outcome, runs }: Check): boolean {
  return outcome !== '' || runs > 1;
}

/** The parts of a result that shows several files, each behind a line that names it. */
function splitByFile(text: string, paths: readonly string[]): readonly (string | undefined)[] {
  const starts = paths.map((path) => {
    const at = text.indexOf(path);
    return at === -1 ? -1 : text.indexOf('\n', at) + 1;
  });
  return starts.map((start, index) => {
    if (start <= 0) return undefined;
    const next = starts.slice(index + 1).find((each) => each > start);
    return text.slice(start, next === undefined ? undefined : text.lastIndexOf('\n', next - 2));
  });
}
