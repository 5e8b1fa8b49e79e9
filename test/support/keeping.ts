import type { CompactionEvent } from '../../src/compaction/options.ts';
import { sha256 } from '../../src/conversation/sha256.ts';
import { createKeeper, type Keeper } from '../../src/keeper/keeper.ts';
import type { KeeperEvent, KeeperOptions } from '../../src/keeper/options.ts';
import type { Summarizer, SummaryRequest } from '../../src/memory/summary-request.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';

const FILLER = 'the parser reads one token after the other and gives back what it has not used yet '.repeat(
  4,
);

/** A text of about a hundred tokens with a word of its own in front. */
export function told(nonce: number): string {
  return `#${nonce}# ${FILLER}`;
}

/** A question and so many rounds of one call each; every message has the nonce of its place. */
export function session(rounds: number, firstNonce = 0): readonly unknown[] {
  const list: unknown[] = [{ role: 'user', content: told(firstNonce) }];
  for (let round = 0; round < rounds; round++) {
    const id = `call_${round}`;
    const nonce = firstNonce + list.length;
    list.push(
      {
        role: 'assistant',
        content: [
          { type: 'text', text: told(nonce) },
          { type: 'tool_use', id, name: 'ask_expert', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: told(nonce + 1) }] },
    );
  }
  return list;
}

/** The nonces in a value. */
export function noncesIn(value: unknown): readonly number[] {
  return [...JSON.stringify(value).matchAll(/#(\d+)#/g)].map(([, nonce]) => Number(nonce));
}

/** A summarizer that tells the nonces it was shown, those that a summary before told included. */
export function telling(
  answer: (request: SummaryRequest) => 'tell' | 'input-too-long' | 'throw' = () => 'tell',
): { readonly summarizer: Summarizer; readonly requests: readonly SummaryRequest[] } {
  const requests: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    name: 'telling',
    asksModel: true,
    async summarize(request) {
      requests.push(request);
      const how = answer(request);
      if (how === 'throw') throw new Error('no connection');
      if (how !== 'tell') return { status: 'failed', reason: how, message: 'too long', usage: undefined };
      const nonces = new Set(request.messages.flatMap(({ raw }) => noncesIn(raw)));
      for (const nonce of readTold(request.previousSummary ?? '')) nonces.add(nonce);
      return { status: 'summarized', text: `told: ${toRanges([...nonces])}.`, usage: undefined };
    },
  };
  return { summarizer, requests };
}

/** The nonces that a summary tells. */
export function readTold(text: string): readonly number[] {
  const [, ranges = ''] = /told: ([\d, -]+)\./.exec(text) ?? [];
  return ranges
    .split(', ')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_one, index) => from + index);
    });
}

function toRanges(nonces: readonly number[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const nonce of nonces.toSorted((left, right) => left - right)) {
    const last = ranges.at(-1);
    if (last?.to === nonce - 1) last.to = nonce;
    else ranges.push({ from: nonce, to: nonce });
  }
  return ranges.map(({ from, to }) => `${from}-${to}`).join(', ');
}

export interface Kept {
  readonly keeper: Keeper;
  readonly store: Store;
  readonly events: readonly (KeeperEvent | CompactionEvent)[];
}

/** A keeper with a small window over a store in memory. */
export function keeping(options: Partial<KeeperOptions> = {}): Kept {
  const events: (KeeperEvent | CompactionEvent)[] = [];
  const store = options.store ?? memoryStore();
  const keeper = createKeeper({
    hash: sha256,
    tenant: 'a',
    format: 'anthropic-messages',
    windowTokens: 5000,
    strategy: 'summarize',
    options: { keepRecentTokens: 400 },
    summarizer: telling().summarizer,
    ...options,
    store,
    onEvent: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  return { keeper, store, events };
}
