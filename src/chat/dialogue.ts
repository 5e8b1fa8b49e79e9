import { type UndoRecord, undoPlan } from '../compaction/plan/plan.ts';
import type { Change as Compaction } from '../compaction/plan/strategy.ts';
import type { Conversation } from '../conversation/format.ts';
import type { JsonObject } from '../conversation/json.ts';
import type { Message } from '../conversation/message.ts';
import { readConversation } from '../formats/registry.ts';
import type { Wire } from './providers/provider.ts';

/** A compaction that can be taken back, and done again. Plain data. */
export interface Change {
  /** What it is called. */
  readonly strategy: string;
  readonly undo: UndoRecord;
  /** Messages that there were before. */
  readonly before: number;
  /** The messages as they were afterwards. */
  readonly after: readonly unknown[];
}

/** What a dialogue is made of, to be saved. */
export interface DialogueState {
  readonly messages: readonly unknown[];
  readonly done: readonly Change[];
  readonly undone: readonly Change[];
}

const INSTRUCTIONS =
  'You help in a terminal. You can list, read and search files below the working directory, and change nothing.';

/** The messages of a chat, in the format of its provider, and the compactions that made them what they are. */
export class Dialogue {
  readonly wire: Wire;
  #model: string;
  #messages: readonly unknown[];
  #done: Change[] = [];
  #undone: Change[] = [];

  constructor(wire: Wire, model: string, state?: DialogueState) {
    this.wire = wire;
    this.#model = model;
    this.#messages = state?.messages ?? wire.opening(INSTRUCTIONS);
    this.#done = [...(state?.done ?? [])];
    this.#undone = [...(state?.undone ?? [])];
  }

  get model(): string {
    return this.#model;
  }

  set model(model: string) {
    this.#model = model;
  }

  get messages(): readonly unknown[] {
    return this.#messages;
  }

  get state(): DialogueState {
    return { messages: this.#messages, done: this.#done, undone: this.#undone };
  }

  /** Whether nobody has said anything yet. */
  get isEmpty(): boolean {
    return this.#messages.length <= this.wire.opening(INSTRUCTIONS).length;
  }

  /** The request as it would be sent now. */
  get body(): JsonObject & { readonly messages: readonly unknown[] } {
    return { ...this.wire.frame(this.#model, INSTRUCTIONS), messages: this.#messages };
  }

  read(): Conversation {
    return readConversation(this.body, this.wire.format);
  }

  /** A message that may become part of it. */
  readOne(message: unknown): Message | undefined {
    return readConversation([message], this.wire.format).messages[0];
  }

  add(...messages: readonly unknown[]): void {
    this.#messages = [...this.#messages, ...messages];
  }

  /** Other messages from somewhere else; what was done to the former ones is over. */
  replace(messages: readonly unknown[]): void {
    const isFramed = this.wire.opening(INSTRUCTIONS).length > 0;
    const conversation = readConversation(messages, this.wire.format);
    const own = conversation.messages.filter(({ role }) => !(isFramed && role === 'system'));
    this.#messages = [...this.wire.opening(INSTRUCTIONS), ...own.map(({ raw }) => raw)];
    this.#done = [];
    this.#undone = [];
  }

  /** Goes on with what a compaction made of the messages. */
  accept({ conversation, undo, receipt }: Compaction): void {
    const after = conversation.messages.map(({ raw }) => raw);
    this.#done.push({ strategy: receipt.strategy, undo, before: this.#messages.length, after });
    this.#undone = [];
    this.#messages = after;
  }

  /** Takes the newest compaction back; what was said since stays. Undefined when there is none. */
  undo(): Change | undefined {
    const change = this.#done.pop();
    if (change === undefined) return undefined;
    const later = this.#messages.slice(change.after.length);
    const compacted = readConversation({ ...this.body, messages: change.after }, this.wire.format);
    this.#messages = [...undoPlan(compacted, change.undo).messages.map(({ raw }) => raw), ...later];
    this.#undone.push(change);
    return change;
  }

  /** Does again what was taken back last. */
  redo(): Change | undefined {
    const change = this.#undone.pop();
    if (change === undefined) return undefined;
    this.#messages = [...change.after, ...this.#messages.slice(change.before)];
    this.#done.push(change);
    return change;
  }
}
