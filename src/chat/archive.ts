/** Keeps the messages that compactions take out of a chat, in a store, for /recall. */

import { decorate } from '../compaction/decorators/decorate.ts';
import type { Change, Strategy } from '../compaction/plan/strategy.ts';
import type { Message } from '../conversation/message.ts';
import { sha256 } from '../conversation/sha256.ts';
import { keptMessage, type PageMatch, searchableText, searchPages, spanHandle } from '../stores/spans.ts';
import type { ArchivedSpan, Store } from '../stores/store.ts';

const TENANT = 'chat';
const MOST_MATCHES = 10;

/** Keeps what leaves a chat, so that it can be read again. */
export class ChatArchive {
  readonly #store: Store;
  readonly #conversation: string;
  readonly #named = new Map<string, readonly Message[]>();

  constructor(store: Store, conversation: string) {
    this.#store = store;
    this.#conversation = conversation;
  }

  /** The strategy, which now writes the names of what leaves where it stood. */
  named(inner: Strategy): Strategy {
    return decorate(inner, (conversation, context) =>
      inner.compact(conversation, { ...context, handleFor: (messages) => this.#name(messages) }),
    );
  }

  /** Keeps everything that a compaction took out or made smaller. */
  async keep(before: readonly Message[], { conversation, receipt }: Change, now: Date): Promise<void> {
    const written = JSON.stringify(conversation.messages.map(({ raw }) => raw));
    const asked = [...this.#named].filter(([handle]) => written.includes(handle));
    const left = receipt.runs
      .filter(({ fate }) => fate !== 'verbatim')
      .map(({ start, end }) => before.slice(start, end));
    const spans = new Map(asked);
    for (const messages of left) spans.set(this.#name(messages), messages);
    this.#named.clear();
    const records = [...spans].map(([handle, messages]) => ({
      span: this.#toSpan(handle, messages, { before, createdAt: now.getTime() }),
    }));
    if (records.length > 0) await this.#store.restore(records);
  }

  async recall(handle: string): Promise<ArchivedSpan | undefined> {
    return this.#store.recall({ tenant: TENANT, handle });
  }

  async search(words: string): Promise<readonly PageMatch[]> {
    return searchPages(this.#store, {
      tenant: TENANT,
      conversation: this.#conversation,
      words,
      limit: MOST_MATCHES,
    });
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #name(messages: readonly Message[]): string {
    const kept = messages.map(({ raw }) => keptMessage(sha256, raw));
    const handle = spanHandle(sha256, this.#conversation, kept);
    this.#named.set(handle, messages);
    return handle;
  }

  #toSpan(
    handle: string,
    messages: readonly Message[],
    { before, createdAt }: { readonly before: readonly Message[]; readonly createdAt: number },
  ): ArchivedSpan {
    const first = messages[0];
    const start = first === undefined ? 0 : Math.max(0, before.indexOf(first));
    return {
      tenant: TENANT,
      conversation: this.#conversation,
      handle,
      start,
      end: start + messages.length,
      body: new TextEncoder().encode(JSON.stringify(messages.map(({ raw }) => raw))),
      text: searchableText(messages),
      createdAt,
    };
  }
}
