/** Reads a memory back, so that the next one can continue it. */

import type { Happening } from './events.ts';
import { KnownFiles } from './files.ts';
import type { Commit, Made } from './git-state.ts';
import type { Check, EarlierState, Task } from './state.ts';
import {
  ALL_CHANGED,
  CUT,
  HEADINGS,
  OPENING,
  OUTDATED,
  PAGES,
  SEEN_BEFORE,
  STATE_HEADS,
  UNCOMMITTED,
} from './tell.ts';

/** What an earlier memory tells, in the shapes it was made from. */
export interface Recalled extends EarlierState {
  readonly rounds: number;
  readonly root: string;
  readonly handles: readonly string[];
  readonly events: readonly Happening[];
}

/** Nothing to recall. */
export const nothingRecalled = (): Recalled => ({
  rounds: 0,
  root: '',
  handles: [],
  events: [],
  files: new KnownFiles(),
  tasks: [],
  checks: [],
  branch: undefined,
  workingTree: undefined,
  commits: [],
  made: [],
  uncommitted: [],
});

/**
 * Reads a memory back, several that stand behind each other as one. A text that is no memory of ours is a summary by somebody
 * else, and is told as that.
 */
export function recallMemory(text: string): Recalled {
  const reader = new MemoryReader();
  for (const line of text.split('\n')) reader.add(line);
  return reader.end();
}

// Lines end at a line feed only: a dot stands for every other sign that ends one.
const TASK = /^ {2}\[([\w -]{1,30})\] (?:(\d{1,5}) )?(.{1,4000})$/s;
const CHECK = /^ {2}`(.{1,400})` (failed|ended)( \(before later edits\))?(?:: (.{0,400}))?$/s;
const NUMBERED = /^\[(\d{1,6})\](?: \(refusing `(.{0,300})`\))? ?(.*)$/s;
const FENCE = /^(`{3,20}|~{3})$/;
const FILE_HEAD = /^(.{1,500}?)(?: \((?:created here(?:, changed (\d{1,6})x)?|changed (\d{1,6})x)\))?$/s;
const PAGE_LABEL = / \(([A-Z]{1,3}\d{1,6})\)$/;
const AGENT = 'agent: ';
const MOST_TASKS = 2000;
const KEY_LINE = /^(\d{1,7}): (.{1,400})$/s;

/** A file that was seen before the working tree was switched is older still in the next memory. */
function withoutNote(head: string): string {
  const at = head.indexOf(SEEN_BEFORE);
  return at === -1 ? head : head.slice(0, at);
}

class MemoryReader {
  private rounds = 0;
  private root = '';
  private readonly handles: string[] = [];
  private readonly said = new Map<number, { text: string; answers: string | undefined }>();
  private readonly story: { turn: number; lines: string[] }[] = [];
  private readonly others: string[] = [];
  private readonly files = new KnownFiles();
  private readonly tasks: Task[] = [];
  private readonly checks: Check[] = [];
  private readonly commits: Commit[] = [];
  private readonly made: Made[] = [];
  private readonly uncommitted: string[] = [];
  private readonly changed: string[] = [];
  private taskCounts = '';
  private branch: string | undefined;
  private workingTree: string | undefined;
  private part = '';
  private state = '';
  private turn = 0;
  private fence: string | undefined;
  private fileHead = '';
  private fileLines: string[] = [];

  add(line: string): void {
    if (this.fence !== undefined) {
      this.addFileLine(line);
      return;
    }
    const opened = OPENING.exec(line);
    if (opened !== null) {
      this.rounds += Number(opened[1]);
      this.root = opened[2] ?? this.root;
      this.part = 'opening';
    } else if (this.part === 'opening' && line.startsWith(PAGES)) this.addHandles(line.slice(PAGES.length));
    else if (Object.values(HEADINGS).includes(line)) this.part = line;
    else if (this.part === HEADINGS.state) this.addState(line);
    else if (this.part === HEADINGS.said) this.addSaid(line);
    else if (this.part === HEADINGS.story) this.addStory(line);
    else if (this.part === HEADINGS.files) this.addFile(line);
    else if (line.trim() !== '') this.others.push(line);
  }

  end(): Recalled {
    return {
      rounds: this.rounds,
      root: this.root,
      handles: this.handles,
      events: this.events(),
      files: this.files,
      tasks: this.allTasks(),
      checks: this.checks,
      branch: this.branch,
      workingTree: this.workingTree,
      commits: this.commits,
      made: this.made,
      uncommitted: this.uncommitted.flatMap((path) => (path === ALL_CHANGED ? this.changed : [path])),
    };
  }

  /** The tasks that are told, and those that are only counted, in the place of the numbers that are missing. */
  private allTasks(): readonly Task[] {
    const known = new Map(this.tasks.map((task) => [task.id, task]));
    let next = 1;
    for (const [, count, status = ''] of this.taskCounts.matchAll(/(\d{1,5}) ([\w -]{1,30})/g)) {
      const told = this.tasks.filter((task) => task.status === status).length;
      for (let left = Number(count) - told; left > 0 && known.size < MOST_TASKS; left--) {
        while (known.has(`${next}`)) next++;
        known.set(`${next}`, { id: `${next}`, text: '', status, detail: undefined });
      }
    }
    return [...known.values()].toSorted((left, right) => Number(left.id) - Number(right.id));
  }

  private addHandles(list: string): void {
    for (const [, handle = ''] of list.matchAll(/[A-Z]{1,3} (rf:\w{1,64})/g)) this.handles.push(handle);
  }

  private addState(line: string): void {
    const head = Object.values(STATE_HEADS).find((each) => line.startsWith(each));
    if (head !== undefined) this.state = head;
    if (head === STATE_HEADS.tasks) this.taskCounts = line.slice(head.length);
    if (head === STATE_HEADS.changed)
      for (const path of line.slice(head.length).split(', ')) this.addChanged(path.trim());
    if (head !== undefined) return;
    if (this.state === STATE_HEADS.request) this.addSaid(line);
    if (this.state === STATE_HEADS.prose) this.others.push(line.trim());
    const task = this.state === STATE_HEADS.tasks ? TASK.exec(line) : null;
    if (task !== null)
      this.tasks.push({
        id: task[2] ?? `${this.tasks.length + 1}`,
        text: task[3] ?? '',
        status: task[1] ?? '',
        detail: undefined,
      });
    const check = this.state === STATE_HEADS.checks ? CHECK.exec(line) : null;
    if (check !== null)
      this.checks.push({
        command: check[1] ?? '',
        isFailed: check[2] === 'failed',
        isOutdated: check[3] === OUTDATED,
        outcome: check[4] ?? '',
        at: -1,
        runs: 2,
      });
    if (this.state === STATE_HEADS.git) this.addGit(line.trim());
  }

  private addGit(line: string): void {
    const [word = '', first = ''] = line.split(' ', 2);
    const rest = line.slice(word.length + 1);
    if (word === 'branch') this.branch = rest;
    else if (word === 'commit' || word === 'committed')
      this.commits.push({
        hash: word === 'commit' ? first : '',
        subject: word === 'commit' ? rest.slice(first.length + 1) : rest,
        branch: this.branch ?? '',
        at: this.commits.length,
      });
    else if (word === 'made') this.made.push({ address: first, title: rest.slice(first.length + 1) });
    else if (line.startsWith(UNCOMMITTED))
      this.uncommitted.push(...line.slice(UNCOMMITTED.length).split(', '));
    else if (line.startsWith('git status: ')) this.workingTree = line.slice('git status: '.length);
  }

  private addChanged(path: string): void {
    if (path === '') return;
    const file = this.files.at(path.replace(/ \(removed\)$/, ''));
    this.changed.push(file.path);
    file.changes = Math.max(1, file.changes);
    file.changedAt = 0;
    file.isRemoved = path.endsWith(' (removed)');
  }

  private addSaid(line: string): void {
    const [, number, answers, text = ''] = NUMBERED.exec(line) ?? [];
    if (number !== undefined) {
      this.turn = Number(number);
      this.said.set(this.turn, { text, answers });
      return;
    }
    const known = this.said.get(this.turn);
    if (known !== undefined && line.startsWith('  ')) known.text += `\n${line.slice(2)}`;
  }

  private addStory(line: string): void {
    const [, number] = /^\[(\d{1,6})\]$/.exec(line) ?? [];
    if (number !== undefined) this.turn = Number(number);
    else if (line.startsWith('- ')) this.story.push({ turn: this.turn, lines: [line.slice(2)] });
    else if (line.startsWith('  ')) this.story.at(-1)?.lines.push(line.slice(2));
    else if (line.trim() !== '') this.others.push(line);
  }

  private addFile(line: string): void {
    if (FENCE.test(line)) this.fence = line;
    else if (line !== '') this.fileHead = line;
  }

  private addFileLine(line: string): void {
    if (line !== this.fence) {
      this.fileLines.push(line);
      return;
    }
    this.fence = undefined;
    const [, path = '', more, changes] = FILE_HEAD.exec(withoutNote(this.fileHead)) ?? [];
    const file = this.files.at(path);
    file.changes = Math.max(file.changes, Number(changes ?? more ?? 0));
    let stretch: string[] = [];
    const endStretch = () => {
      if (stretch.length > 0)
        file.look(
          stretch.map((text) => ({ number: undefined, text })),
          0,
        );
      stretch = [];
    };
    for (const each of this.fileLines.splice(0)) {
      const key = KEY_LINE.exec(each);
      if (each === CUT || key !== null) endStretch();
      if (key !== null) file.look([{ number: Number(key[1]), text: key[2] ?? '' }], 0);
      else if (each !== CUT) stretch.push(each);
    }
    endStretch();
    file.lookedAt = 0;
    if (file.changes > 0) file.changedAt = 0;
  }

  private events(): readonly Happening[] {
    const place = { at: -1, isKept: false };
    const events: Happening[] = [];
    if (this.others.length > 0)
      events.push({ type: 'given', text: this.others.join('\n'), isHandover: true, ...place });
    const turns = [...new Set([...this.said.keys(), ...this.story.map(({ turn }) => turn)])].toSorted(
      (left, right) => left - right,
    );
    for (const turn of turns) {
      const said = this.said.get(turn);
      if (said !== undefined && !said.text.startsWith('taken back in ['))
        events.push({ type: 'said', number: turn, ...said, ...place });
      for (const { lines } of this.story.filter((item) => item.turn === turn)) {
        const [head = '', ...rest] = lines;
        const page = PAGE_LABEL.exec(head);
        const first = page === null ? head : head.slice(0, page.index);
        const about = { turn, page: page?.[1], ...place };
        if (first.startsWith(AGENT))
          events.push({
            type: 'told',
            text: [first.slice(AGENT.length), ...rest].join('\n'),
            isClosing: false,
            ...about,
          });
        else events.push({ type: 'past', lines: [first, ...rest], ...about });
      }
    }
    return events;
  }
}
