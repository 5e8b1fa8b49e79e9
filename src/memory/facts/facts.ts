/** Finds what a compaction must not lose: demands, open work, paths, errors, commands, ids, numbers. */

import { fileAccess } from '../../conversation/file-access.ts';
import type { JsonObject } from '../../conversation/json.ts';
import { callArguments, type Message, type ToolCallBlock, textOf } from '../../conversation/message.ts';
import { demandsOf, firstSentence } from '../words/demands.ts';
import { ownTexts } from '../words/own-words.ts';
import { type EntityKind, scanText } from './entities.ts';

/** Deeper or longer arguments are data, not something that is called by its name. */
const DEEPEST = 8;
const MOST = 5000;

/** The texts in the arguments of a call (parsed, or free text), those of outer levels first. Never throws. */
export function argumentTexts(given: unknown): readonly string[] {
  const texts: string[] = [];
  let level: readonly unknown[] = [given];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') texts.push(value);
      else if (typeof value === 'object' && value !== null) next.push(...valuesOf(value, MOST - next.length));
      if (texts.length >= MOST) return texts;
    }
    level = next;
  }
  return texts;
}

function valuesOf(value: object, most: number): readonly unknown[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return values.slice(0, Math.max(0, most));
}

/** Keys under which tools keep lists of things to do. The first ones mean nothing else. */
const SURE_KEYS = ['todos', 'todo_list', 'todoList', 'task_list', 'plan'];
const OTHER_KEYS = ['tasks', 'items', 'steps'];
const LIST_TOOL = /todo|task|plan|checklist/i;

const TEXT_KEYS = ['content', 'step', 'title', 'text', 'description', 'task', 'name'];
const DONE = new Set([
  'completed',
  'complete',
  'done',
  'finished',
  'cancelled',
  'canceled',
  'closed',
  'skipped',
]);
const DONE_KEYS = ['done', 'completed'];

/** A line of a list in Markdown: `- [ ] this is open`, `- [x] this is not`. */
const CHECK_LINE = /^\s{0,20}[-*] \[(.)\] (.{1,2000})$/;

/** Longer lists are data. */
const MOST_ITEMS = 200;
const LONGEST_LIST = 50_000;

/**
 * The open items of the to-do list that a call with these arguments writes, in their order; undefined when the call writes
 * no such list. A list that is empty, or done, has none.
 */
export function openItems(tool: string, input: JsonObject | undefined): readonly string[] | undefined {
  if (input === undefined) return undefined;
  const isListTool = LIST_TOOL.test(tool);
  for (const key of [...SURE_KEYS, ...(isListTool ? OTHER_KEYS : [])]) {
    if (!Object.hasOwn(input, key)) continue;
    const items = itemsIn(input[key]);
    if (items !== undefined) return items;
  }
  return undefined;
}

function itemsIn(list: unknown): readonly string[] | undefined {
  if (typeof list === 'string') return itemsInText(list);
  if (!Array.isArray(list)) return undefined;
  const values: readonly unknown[] = list.slice(0, MOST_ITEMS);
  const items = values.map(readItem).filter((item) => item !== undefined);
  // Something else that goes by the same name: amounts, ids, lists of lists.
  if (items.length === 0 && values.length > 0) return undefined;
  return items.filter(({ isDone, text }) => !isDone && text !== '').map(({ text }) => text);
}

interface Item {
  readonly text: string;
  readonly isDone: boolean;
}

function readItem(value: unknown): Item | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const item = new Map<string, unknown>(Object.entries(value));
  const status = item.get('status') ?? item.get('state');
  const isDone = DONE_KEYS.some((key) => item.get(key) === true);
  if (typeof status !== 'string' && !DONE_KEYS.some((key) => typeof item.get(key) === 'boolean'))
    return undefined;
  const text = TEXT_KEYS.map((key) => item.get(key)).find((each) => typeof each === 'string');
  return {
    text: typeof text === 'string' ? text : '',
    isDone: isDone || (typeof status === 'string' && DONE.has(status.trim().toLowerCase())),
  };
}

/** A list as JSON, or as lines with boxes to tick. */
function itemsInText(text: string): readonly string[] | undefined {
  if (text.length > LONGEST_LIST) return undefined;
  const lines = text.split('\n').map((line) => CHECK_LINE.exec(line.trimEnd()));
  const boxes = lines.filter((match) => match !== null).slice(0, MOST_ITEMS);
  if (boxes.length === 0) return text.trimStart().startsWith('[') ? itemsIn(parseList(text)) : undefined;
  return boxes.filter(([, box = '']) => !'xX✓✔'.includes(box)).map(([, , item = '']) => item.trim());
}

function parseList(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}

/** What a compaction must not lose, by kind, the most important first. */
export const factKinds = [
  'constraint',
  'open-work',
  'ask',
  'path',
  'error',
  'command',
  'id',
  'number',
] as const;

export type FactKind = (typeof factKinds)[number];

/** Something that was said or done and may be needed again, in the words of the source. One line. */
export interface Fact {
  readonly kind: FactKind;
  readonly text: string;
}

/** What became of the facts of one kind: `found` is the sum of the next two. */
export interface Survival {
  readonly kind: FactKind;
  readonly found: number;
  /** Still there in the words of the source. */
  readonly kept: number;
  /** Gone from the request. */
  readonly lost: number;
  /** Some of those that are gone, the newest. */
  readonly examples: readonly string[];
}

/** How many facts of a kind are followed: the newest. Demands of the user have no limit. */
const NEWEST = 200;
const LONGEST_ASK = 300;
const LONGEST_PATH = 300;
const LONGEST_COMMAND = 200;
const LONGEST_ERROR = 240;

/** Names are looked for in the newest texts: older ones have hardly any that would still be among the newest. */
const SCANNED_CHARACTERS = 200_000;

/**
 * The facts in these messages, each once, in the order in which they last occurred. Those that are known from `earlier`
 * ones come first; a newer list of things to do takes the place of an older one. Linear, and bounded where it can be: of
 * very long conversations only the newest names are looked for.
 */
export function factsOf(messages: readonly Message[], earlier: readonly Fact[] = []): readonly Fact[] {
  const collector = new FactCollector();
  for (const { kind, text } of earlier) collector.put(kind, text);
  for (const message of messages) collector.add(message);
  return collector.all();
}

/** The demands of the user in these messages: in the user's own words, never in what others wrote. */
export function demandsOfUser(messages: readonly Message[]): ReadonlySet<string> {
  const demands = new Set<string>();
  for (const message of messages) {
    for (const words of ownTexts(message)) for (const demand of demandsOf(words)) demands.add(demand);
  }
  return demands;
}

/** Whether a call in this message writes a list of things to do. */
export function writesOpenWork({ blocks }: Message): boolean {
  return blocks.some(
    (block) => block.type === 'tool-call' && openItems(block.name, callArguments(block)) !== undefined,
  );
}

class FactCollector {
  private readonly found = new Map<FactKind, Set<string>>(factKinds.map((kind) => [kind, new Set()]));
  /** Texts in which names are still to be looked for. */
  private readonly unscanned: string[] = [];

  all(): readonly Fact[] {
    this.scanNewest();
    return factKinds.flatMap((kind) => {
      const texts = [...(this.found.get(kind) ?? [])];
      return texts.slice(kind === 'constraint' ? 0 : -NEWEST).map((text) => ({ kind, text }));
    });
  }

  add(message: Message): void {
    for (const words of ownTexts(message)) {
      const demands = demandsOf(words);
      for (const demand of demands) this.put('constraint', demand);
      const ask = firstSentence(words);
      if (ask !== demands[0]) this.put('ask', beginningOf(ask, LONGEST_ASK));
      this.unscanned.push(words);
    }
    for (const block of message.blocks) {
      if (block.type === 'tool-call') this.addCall(block);
      if (block.type === 'tool-result' && block.isError)
        this.put('error', firstLine(textOf(block), LONGEST_ERROR));
    }
  }

  put(kind: FactKind, text: string): void {
    if (text === '' || text.includes('\n')) return;
    const known = this.found.get(kind);
    // Again at the end: what was used last counts as newest.
    if (kind !== 'constraint') known?.delete(text);
    known?.add(text);
  }

  private addCall(call: ToolCallBlock): void {
    const input = callArguments(call);
    const access = fileAccess(call);
    if (access?.kind === 'write' && access.path.length <= LONGEST_PATH) this.put('path', access.path);
    const command = commandOf(input);
    if (command !== undefined) this.put('command', firstLine(command, LONGEST_COMMAND));
    const items = openItems(call.name, input);
    if (items !== undefined) {
      this.found.get('open-work')?.clear();
      for (const item of items) this.put('open-work', firstLine(item, LONGEST_ASK));
    }
    for (const text of argumentTexts(input ?? call.input)) {
      for (const path of patchedPaths(text)) this.put('path', path);
      if (text.length <= LONGEST_ASK) this.unscanned.push(text);
    }
  }

  private scanNewest(): void {
    let left = SCANNED_CHARACTERS;
    let from = this.unscanned.length;
    while (from > 0 && left > 0) left -= this.unscanned[--from]?.length ?? 0;
    for (const [index, text] of this.unscanned.slice(from).entries()) {
      // Of the oldest only the end is within the limit.
      scanText(index === 0 && left < 0 ? text.slice(-left) : text, {
        entity: (name, kind) => {
          const fact = FACT_OF_ENTITY[kind];
          if (fact !== undefined) this.put(fact, name);
        },
      });
    }
    this.unscanned.length = 0;
  }
}

const FACT_OF_ENTITY: Readonly<Partial<Record<EntityKind, FactKind>>> = {
  url: 'id',
  code: 'id',
  number: 'number',
};

const COMMAND_KEYS = ['command', 'cmd', 'script'];

/** A command as text, or the last word of `["bash", "-lc", "…"]`. */
function commandOf(input: JsonObject = {}): string | undefined {
  const key = COMMAND_KEYS.find((each) => Object.hasOwn(input, each));
  const command = key === undefined ? undefined : input[key];
  const text: unknown = Array.isArray(command) ? command.at(-1) : command;
  return typeof text === 'string' ? text : undefined;
}

const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.{1,300})$/gm;

/** The files that a patch for `apply_patch` changes. */
function patchedPaths(text: string): readonly string[] {
  if (!text.includes('*** Begin Patch')) return [];
  return [...text.matchAll(PATCHED_FILE)].slice(-NEWEST).map(([, path = '']) => path.trim());
}

function firstLine(text: string, longest: number): string {
  const start = text.trimStart();
  const end = start.indexOf('\n');
  return beginningOf(end === -1 ? start : start.slice(0, end), longest);
}

/** So many characters of a text, without half a pair at the end. */
function beginningOf(text: string, longest: number): string {
  const isCut = text.length > longest;
  const end = isCut && text.codePointAt(longest - 1) !== text.charCodeAt(longest - 1) ? longest - 1 : longest;
  return text.slice(0, end).trim();
}
