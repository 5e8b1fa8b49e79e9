import { createHash } from 'node:crypto';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import type { ArchivedSpan, Store } from '../../src/stores/store.ts';
import { checkpointOf, commitAlone, spanOf } from './store-records.ts';

export interface StoredConversationOptions {
  readonly path: string;
  readonly name?: string;
  readonly tenant?: string;
  readonly secret?: string;
  readonly usedAt?: number;
  /** What the messages say, a span for each. */
  readonly texts?: readonly string[];
}

/** Different spellings of what a store has to give back byte for byte. */
const defaultTexts = [
  'The harbour master sleeps while the tests of the parser fail.',
  'line one\nline two\twith \u2028 separators, \u0000 and 港の天気 🚢',
];

/** What names a conversation or a span: digits of a hash, as those of real ones. */
export function hexadecimal(text: string, length = 64): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** A conversation with a checkpoint and a span for each text, stored through the library. Gives the spans back. */
export async function storeConversation(
  options: StoredConversationOptions,
): Promise<readonly ArchivedSpan[]> {
  const { path, name = 'first', tenant = 'alice', secret, usedAt, texts = defaultTexts } = options;
  const now = usedAt === undefined ? undefined : () => usedAt;
  return withSqlite({ path, secret, now }, async (store) => {
    const conversation = hexadecimal(name);
    const spans = texts.map((text, index) =>
      spanOf({
        tenant,
        conversation,
        handle: `rf:${hexadecimal(`${name} ${index}`, 32)}`,
        start: 2 * index + 1,
        end: 2 * index + 3,
        text,
        body: new TextEncoder().encode(
          JSON.stringify([
            { role: 'user', content: text },
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { text } }],
            },
          ]),
        ),
      }),
    );
    for (const [index, span] of spans.entries()) {
      const boundary = span.end;
      const runs = spans
        .slice(0, index + 1)
        .map(({ handle, start, end }) => ({ fate: 'summarised' as const, start, end, tokens: 1900, handle }));
      const checkpoint = checkpointOf({
        tenant,
        conversation,
        boundary,
        chain: hexadecimal(`${name}${boundary}`),
      });
      await commitAlone(store, { ...checkpoint, receipt: { ...checkpoint.receipt, runs } }, [span]);
    }
    return spans;
  });
}

/** Uses a store in a file, and closes it. */
export async function withSqlite<Result>(
  options: Parameters<typeof sqliteStore>[0],
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = sqliteStore(options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
