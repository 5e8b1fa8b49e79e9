/** Folds events into the state at their end: files, tasks, checks, running processes, git. */

import type { FileChange } from './actions.ts';
import { commandKind, plainCommand, printedFile, shownCommand } from './commands.ts';
import type { Did, Happening } from './events.ts';
import type { KnownFiles } from './files.ts';
import { type GitFacts, GitState } from './git-state.ts';
import { hasFailed, outcomeOf } from './telling.ts';
import { listedLines } from './tool-output.ts';

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

/** The state before the first event, read back from an earlier memory. */
export interface EarlierState extends GitFacts {
  readonly files: KnownFiles;
  readonly tasks: readonly Task[];
  readonly checks: readonly Check[];
}

/** The state after the last event: files, tasks, checks, processes, git. */
export interface State extends GitFacts {
  readonly files: KnownFiles;
  readonly checks: readonly Check[];
  readonly tasks: readonly Task[];
  /** Whether the newest list of tasks stays in the request, so that a memory need not tell it. */
  readonly areTasksKept: boolean;
  /** When a file was last changed; -1 when none was. */
  readonly changedAt: number;
  /** What last put other versions of files into the working tree, and when. */
  readonly moved: { readonly at: number; readonly by: string } | undefined;
  readonly running: readonly { readonly id: string; readonly command: string }[];
  /** For each event that ran a command: whether a newer run of the same command follows. */
  readonly superseded: ReadonlySet<Did>;
}

const GREP_LINE = /^([^\s:]{1,300}):(\d{1,7})[:-](.{0,400})$/;
const NUMBER_LINE = /^(\d{1,7})[:-](.{0,400})$/;
const MOST_GREP_LINES = 120;
const REMOVES = /(?:^|&&|;|\n)\s{0,8}(?:git )?rm ((?:-\w{1,8} ){0,4})([^&;|<>\n]{1,1000})/g;
const MOVES =
  /(?:^|&&|;|\n)\s{0,8}(?:git )?mv (?:-\w{1,8} ){0,4}(["']?[^\s&;|<>"']{2,300}["']?) (["']?[^\s&;|<>"']{1,300}["']?)(?=\s{0,8}(?:$|&&|;|\n))/g;
/** A process with output that nobody has looked at for this many events is no longer told. */
const LONGEST_UNSEEN = 30;
const NO_OUTPUT = '(no output)';
/** Folds events in order into what holds after the last of them. */
export function foldState(events: readonly Happening[], earlier: EarlierState): State {
  const folder = new StateFolder(earlier);
  for (const [place, event] of events.entries()) {
    if (event.type === 'did') folder.add(event, place);
    else if (event.type === 'given') folder.hear(event.text);
  }
  return folder.state();
}

class StateFolder {
  private readonly files: KnownFiles;
  private readonly checks = new Map<string, Check>();
  private readonly lastRun = new Map<string, Did>();
  private readonly superseded = new Set<Did>();
  private readonly tasks = new Map<string, Task>();
  private areTasksKept = false;
  private readonly git: GitState;
  private changedAt = -1;
  private readonly running = new Map<string, { command: string; at: number; isShown: boolean }>();
  private place = 0;

  constructor(earlier: EarlierState) {
    this.files = earlier.files;
    for (const check of earlier.checks) this.checks.set(plainCommand(check.command), check);
    for (const task of earlier.tasks) this.tasks.set(task.id, { ...task });
    this.git = new GitState(earlier);
  }

  state(): State {
    return {
      files: this.files,
      checks: [...this.checks.values()].filter(isTold).toSorted((left, right) => left.at - right.at),
      tasks: [...this.tasks.values()],
      areTasksKept: this.areTasksKept,
      ...this.git.facts(),
      changedAt: this.changedAt,
      moved: this.git.moved,
      running: [...this.running].flatMap(([id, { command, at, isShown }]) =>
        isShown && this.place - at > LONGEST_UNSEEN ? [] : [{ id, command }],
      ),
      superseded: this.superseded,
    };
  }

  /** A notice of the harness that names a running process says that it has ended. */
  hear(text: string): void {
    for (const id of this.running.keys()) if (text.includes(id)) this.running.delete(id);
  }

  add(event: Did, place: number): void {
    const { action, isRefused, isFailed } = event;
    this.place = place;
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
      this.git.change(file.path);
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
      this.hear(path);
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
      this.running.set(result.running, { command: plain, at: place, isShown: result.text !== '' });
    const text = result?.text ?? '';
    if (!isFailed) {
      this.remove(command, place);
      this.move(command);
    }
    const printed = printedFile(command);
    if (printed !== undefined && !isFailed) {
      this.files.at(printed.path).look(listedLines(text, printed.from), place);
      return;
    }
    const kind = commandKind(command);
    if (kind === 'look') this.grep(text, undefined, place);
    if (kind === 'check' || (kind === 'do' && before !== undefined && text !== ''))
      this.check(command, text, isFailed || hasFailed(text), place);
    this.git.run(command, event, place);
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
      outcome: outcomeOf(text, isFailed) ?? (commandKind(command) === 'check' ? NO_OUTPUT : ''),
      runs,
    });
  }

  /** Files that a command removes are there no more. */
  private remove(command: string, place: number): void {
    for (const [, flags = '', list = ''] of command.matchAll(REMOVES)) {
      if (flags.includes('--cached') || list.includes('--cached')) continue;
      for (const word of list.split(/\s+/)) {
        const path = unquoted(word);
        for (const file of path.length < 2 ? [] : this.files.below(path)) {
          if (file.changes > 0) file.change({ path, changes: [], isRemoved: true }, place);
          else file.stretches = [];
        }
      }
    }
  }

  /** A file that was moved is changed under its new name. */
  private move(command: string): void {
    for (const [, from = '', to = ''] of command.matchAll(MOVES)) {
      const [known] = this.files.below(unquoted(from));
      if (known !== undefined) this.files.rename(known, unquoted(to));
    }
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

function unquoted(word: string): string {
  return word.replaceAll(/^["']|["'/]{1,4}$/g, '');
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
