import { demandsIn, sentencesOf } from './demands.ts';
import { type EntityKind, scanText } from './entities.ts';
import { fileAccess } from './file-access.ts';
import { callArguments, isUserText, type Message, type ToolCallBlock, textOf } from './message.ts';
import { ownWords } from './own-words.ts';
import { readSummaryMessage } from './summary-message.ts';

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

/** Something that was said or done and may be needed again, in the words of the source. */
export interface Fact {
  readonly kind: FactKind;
  readonly text: string;
}

/** So many facts of a kind are looked after, the newest. Demands of the user have no limit. */
const NEWEST = 200;
const LONGEST_ASK = 300;
const LONGEST_COMMAND = 200;
const LONGEST_ERROR = 240;

/** The facts in these messages, each once, in the order in which they last occurred. */
export function factsOf(messages: readonly Message[]): readonly Fact[] {
  const collector = new FactCollector();
  for (const message of messages) collector.add(message);
  return collector.all();
}

class FactCollector {
  private readonly found = new Map<FactKind, Set<string>>(factKinds.map((kind) => [kind, new Set()]));

  all(): readonly Fact[] {
    return factKinds.flatMap((kind) => {
      const texts = [...(this.found.get(kind) ?? [])];
      return texts.slice(kind === 'constraint' ? 0 : -NEWEST).map((text) => ({ kind, text }));
    });
  }

  add(message: Message): void {
    if (isUserText(message) && readSummaryMessage(message) === undefined) this.addUserText(message);
    for (const block of message.blocks) {
      if (block.type === 'tool-call') this.addCall(block);
      if (block.type === 'tool-result' && block.isError)
        this.put('error', firstLine(textOf(block), LONGEST_ERROR));
    }
  }

  private addUserText({ blocks }: Message): void {
    for (const block of blocks) {
      if (block.type !== 'text') continue;
      for (const demand of demandsIn(block.text)) this.put('constraint', demand);
      const words = ownWords(block.text);
      this.put('ask', (sentencesOf(words)[0] ?? '').slice(0, LONGEST_ASK));
      this.addNames(words);
    }
  }

  private addCall(call: ToolCallBlock): void {
    const input = callArguments(call);
    const access = fileAccess(call);
    if (access?.kind === 'write') this.put('path', access.path);
    for (const key of COMMAND_KEYS) {
      const command = input?.[key];
      if (typeof command === 'string') this.put('command', firstLine(command, LONGEST_COMMAND));
    }
    const items = openItems(input);
    if (items !== undefined) this.found.set('open-work', new Set(items));
    for (const value of Object.values(input ?? {})) {
      if (typeof value === 'string' && value.length <= LONGEST_ASK) this.addNames(value);
    }
  }

  private addNames(text: string): void {
    scanText(text, {
      entity: (name, kind) => {
        const fact = FACT_OF_ENTITY[kind];
        if (fact !== undefined) this.put(fact, name);
      },
    });
  }

  private put(kind: FactKind, text: string): void {
    if (text === '') return;
    const known = this.found.get(kind);
    // Again at the end: what was used last counts as newest.
    if (kind !== 'constraint') known?.delete(text);
    known?.add(text);
  }
}

const FACT_OF_ENTITY: Readonly<Partial<Record<EntityKind, FactKind>>> = {
  url: 'id',
  code: 'id',
  number: 'number',
};

const COMMAND_KEYS = ['command', 'cmd', 'script'];

/** Keys under which tools keep lists of things to do, and states of those that are done. */
const LIST_KEYS = ['todos', 'plan', 'tasks', 'items', 'steps'];
const TEXT_KEYS = ['content', 'step', 'title', 'text', 'description', 'task'];
const DONE = new Set<unknown>(['completed', 'complete', 'done', 'cancelled', 'canceled', 'closed']);

/** What a list of things to do still holds; undefined when the call keeps no such list. */
function openItems(input: Readonly<Record<string, unknown>> | undefined): readonly string[] | undefined {
  for (const key of LIST_KEYS) {
    const list = input?.[key];
    if (!Array.isArray(list) || list.length === 0) continue;
    const states: readonly unknown[] = list;
    const items = states.filter(isItem);
    if (items.length < list.length) continue;
    return items.filter((item) => !DONE.has(item['status'])).map(textOfItem);
  }
  return undefined;
}

function isItem(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'status') === 'string';
}

function textOfItem(item: Readonly<Record<string, unknown>>): string {
  const text = TEXT_KEYS.map((key) => item[key]).find((value) => typeof value === 'string');
  return typeof text === 'string' ? firstLine(text, LONGEST_ASK) : '';
}

function firstLine(text: string, longest: number): string {
  const trimmed = text.trim();
  const end = trimmed.indexOf('\n');
  return (end === -1 ? trimmed : trimmed.slice(0, end)).slice(0, longest).trim();
}
