/** Follows branch, commits and working tree through the commands of a session and their output. */

import { shownCommand } from './commands.ts';
import type { Did } from './events.ts';

export interface Commit {
  /** Empty where nothing has shown it. */
  readonly hash: string;
  readonly subject: string;
  readonly branch: string;
  readonly at: number;
}

/** Something that a call made elsewhere, such as a pull request: where it is and what it is called. */
export interface Made {
  readonly address: string;
  readonly title: string;
}

/** What is known of branch, commits and working tree. */
export interface GitFacts {
  readonly branch: string | undefined;
  /** What the newest `git status` said. */
  readonly workingTree: string | undefined;
  readonly commits: readonly Commit[];
  readonly made: readonly Made[];
  /** Files that were changed since the last commit. */
  readonly uncommitted: readonly string[];
}

const COMMIT = /\[([\w./#-]{1,200}?)(?: \([\w -]{1,20}\))? ([0-9a-f]{7,12})\] (.{1,200})/g;
const ON_BRANCH = /^(?:On branch |## |Switched to (?:a new )?branch ')([\w./-]{1,200}?)(?:\.\.\.|'|$|\s)/gm;
const LOGGED = /^(?:\* )?([0-9a-f]{7,12}) (?:\([^)\n]{1,200}\) )?(.{1,200})$/gm;
const COMMITS = /\bgit (?:-C \S{1,300} )?commit\b/;
const NO_COMMIT = /nothing (?:added )?to commit|no changes added|--dry-run/;
const CLEAN = /nothing to commit|working tree clean/;
const SWITCHED = /git (?:checkout|switch) (?:-\w{1,3} ){0,3}([\w./-]{1,200})(?![\w./-]| -- )/g;
const MADE =
  /https?:\/\/[^\s"'<>)\]]{1,300}\/(?:(?:pulls?|issues|merge_requests)\/\d{1,9}|commit\/[0-9a-f]{7,40}|releases\/tag\/[\w.-]{1,60})\b/g;
const LONGEST_GIT_OUTPUT = 4000;
const CHANGES_TREE = /\bgit (?:commit|add|stash|reset|checkout|merge|rebase|restore)(?![\w-])/;
/** Commands that put other versions of files into the working tree. A new branch does not. */
const MOVES_TREE =
  /\bgit (?:rebase|reset --hard|stash|pull|merge|checkout(?! -[bB]\b)|switch(?! -[cC]\b)|restore)(?![\w-])/;
/** Commands that take changes out of the working tree, or some of them. */
const UNDOES = /\bgit (?:stash|reset --hard|restore|clean|checkout (?:\S{1,100} )?--) ?/;
const NOTHING_CHANGED = /fatal:|error:|did not match/;

/** Follows branch, commits and working tree through the commands and their output. What is uncertain is dropped. */
export class GitState {
  private branch: string | undefined;
  private workingTree: string | undefined;
  /** By their subjects. */
  private readonly commits = new Map<string, Commit>();
  private readonly made = new Map<string, Made>();
  private readonly uncommitted: Set<string>;
  /** What last put other versions of files into the working tree, and when. */
  moved: { readonly at: number; readonly by: string } | undefined;

  constructor({ branch, workingTree, commits, made, uncommitted }: GitFacts) {
    this.branch = branch;
    this.workingTree = workingTree;
    for (const commit of commits) this.commits.set(commit.subject, commit);
    for (const each of made) this.made.set(each.address, each);
    this.uncommitted = new Set(uncommitted);
  }

  facts(): GitFacts {
    const { branch, workingTree, commits, made, uncommitted } = this;
    return {
      branch,
      workingTree,
      commits: [...commits.values()],
      made: [...made.values()],
      uncommitted: [...uncommitted],
    };
  }

  /** Takes in that a file was changed. */
  change(path: string): void {
    this.uncommitted.add(path);
    if (CLEAN.test(this.workingTree ?? '')) this.workingTree = undefined;
  }

  /** Takes in a command, if it has to do with git, and what it printed. */
  run(command: string, { result, isFailed }: Pick<Did, 'result' | 'isFailed'>, at: number): void {
    if (!/\b(?:git|gh)\b/.test(command)) return;
    const text = result?.text ?? '';
    const head = text.slice(0, LONGEST_GIT_OUTPUT);
    if (CHANGES_TREE.test(command)) this.workingTree = undefined;
    const by = MOVES_TREE.exec(command)?.[0];
    if (by !== undefined && !NOTHING_CHANGED.test(head)) this.moved = { at, by };
    // What a command has put away is not always all of it: nothing is known any more.
    if (UNDOES.test(command) && !isFailed) this.uncommitted.clear();
    if (!isFailed) this.commit(command, head);
    if (/\bgit (?:-C \S{1,300} )?status\b/.test(command)) this.readStatus(command, head);
    this.branch = branchAfter(command, head) ?? this.branch;
    this.nameCommits(head);
    if (/\b(?:create|push)\b/.test(command)) {
      const title = TITLE.exec(command)?.[2] ?? this.branch ?? '';
      for (const [address] of head.matchAll(MADE)) this.made.set(address, { address, title });
    }
  }

  private readStatus(command: string, text: string): void {
    this.workingTree = statusOf(text);
    const isSilent = text.trim() === '' && !/&&|;|\|/.test(shownCommand(command));
    if (isSilent || CLEAN.test(text)) this.uncommitted.clear();
  }

  /** A commit that succeeded is one, also where it prints nothing. */
  private commit(command: string, text: string): void {
    const told = [...text.matchAll(COMMIT)];
    const isAmended = /--amend/.test(command);
    if (told.length === 0 && (!COMMITS.test(command) || NO_COMMIT.test(command + text))) return;
    const before = isAmended ? this.dropLastCommit() : undefined;
    this.uncommitted.clear();
    for (const [, branch = '', hash = '', subject = ''] of told) {
      this.addCommit(hash, subject, branch);
      if (branch !== 'detached HEAD') this.branch = branch;
    }
    const subject = subjectIn(command) ?? before?.subject;
    if (told.length === 0 && subject !== undefined) this.addCommit('', subject, this.branch ?? '');
  }

  private addCommit(hash: string, subject: string, branch: string): void {
    const key = subject.trim();
    this.commits.delete(key);
    this.commits.set(key, { hash, subject: key, branch, at: this.commits.size });
  }

  /** A log that shows commits by hash and subject names those that did not say their own. */
  private nameCommits(text: string): void {
    for (const [, hash = '', subject = ''] of text.matchAll(LOGGED)) {
      const known = this.commits.get(subject.trim());
      if (known?.hash === '') this.commits.set(known.subject, { ...known, hash });
    }
  }

  private dropLastCommit(): Commit | undefined {
    const last = [...this.commits.values()].at(-1);
    if (last !== undefined) this.commits.delete(last.subject);
    return last;
  }
}

/** The branch after a command, by the newest word on it: what was printed, or what it went over to after that. */
function branchAfter(command: string, text: string): string | undefined {
  const switched = switchedTo(command, text);
  const asked = Math.max(command.lastIndexOf('git status'), command.search(SHOWS_BRANCH));
  if (switched !== undefined && command.lastIndexOf(switched) > asked) return switched;
  return shownBranch(command, text) ?? [...text.matchAll(ON_BRANCH)].at(-1)?.[1] ?? switched;
}

/** The branch that a command has gone over to; undefined where it did not. */
function switchedTo(command: string, text: string): string | undefined {
  if (!/\bgit (?:checkout|switch)\b/.test(command) || NOTHING_CHANGED.test(text) || UPDATED_FILES.test(text))
    return undefined;
  const names = [...command.matchAll(SWITCHED)].map(([, name = '']) => name);
  return names.findLast((name) => !name.startsWith('-') && name !== '.');
}

const UPDATED_FILES = /^Updated \d{1,6} paths? from/m;
const SHOWS_BRANCH = /\bgit (?:-C \S{1,300} )?(?:branch --show-current|rev-parse --abbrev-ref HEAD)/;
const LISTS_BRANCHES = /\bgit branch(?: -\w{1,4}|$| [&|;])/;
const BRANCH_LINE = /^[\w./-]{1,200}$/;

/** The branch that a command asked for and got: its own line is the first or the last where others ran with it. */
function shownBranch(command: string, text: string): string | undefined {
  const parts = command.split(/&&|;|\n/).filter((part) => part.trim() !== '');
  const lines = text.trim().split('\n');
  const listed = LISTS_BRANCHES.test(command) ? lines.find((line) => line.startsWith('* ')) : undefined;
  const isLast = SHOWS_BRANCH.test(parts.at(-1) ?? '');
  const line = isLast ? lines.at(-1) : SHOWS_BRANCH.test(parts[0] ?? '') ? lines[0] : listed?.slice(2);
  return line !== undefined && BRANCH_LINE.test(line.trim()) ? line.trim() : undefined;
}

const TITLE = /--title[ =](["'])(.{1,200}?)\1/;
const SUBJECT =
  /(?:-a?m|--message)[ =]?(?:"(?!\$\()([^"\n]{1,200})|'([^'\n]{1,200}))|\bcommit\b[^\n]{0,200}<<-?\s?['"]?\w{1,20}['"]?\n\s{0,8}(.{1,200})/;

/** The first line of the message that a command commits with. */
function subjectIn(command: string): string | undefined {
  const [, double, single, fed] = SUBJECT.exec(command) ?? [];
  return double ?? single ?? fed;
}

const MOST_STATUS_LINES = 12;

function statusOf(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('(use ') && !/^On branch|^## /.test(line));
  return lines.length === 0 ? undefined : lines.slice(0, MOST_STATUS_LINES).join(' | ');
}
