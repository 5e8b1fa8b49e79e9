/** A message of a client, before it is written. Its nonce stands in its text and nowhere else. */
export interface Item {
  readonly kind: 'user' | 'assistant' | 'call' | 'result';
  readonly nonce: number;
  /** Of the call and its result. */
  readonly id: string;
}

/** How a client writes the same messages this time. */
export interface Noise {
  /** Message from the end that has a cache marker; none below 0. */
  readonly markerAt: number;
  readonly swapsKeys: boolean;
  readonly writesBlocks: boolean;
}

/** As a client writes that never changes its mind. */
export const plainNoise: Noise = { markerAt: -1, swapsKeys: false, writesBlocks: false };

/** The list after a turn: an answer to what was asked, some tool rounds, and the next question. */
export function grownItems(items: readonly Item[], rounds: number, nonce: () => number): readonly Item[] {
  const grown = [...items];
  if (grown.length > 0) {
    for (let round = 0; round < rounds; round++) {
      const id = `call_${nonce()}`;
      grown.push({ kind: 'call', nonce: nonce(), id }, { kind: 'result', nonce: nonce(), id });
    }
    grown.push({ kind: 'assistant', nonce: nonce(), id: '' });
  }
  grown.push({ kind: 'user', nonce: nonce(), id: '' });
  return grown;
}

/** The list up to the last question before a place. */
export function upToQuestion(items: readonly Item[], before: number): readonly Item[] {
  const place = items.slice(0, before).findLastIndex(({ kind }) => kind === 'user');
  return items.slice(0, place + 1);
}

const PADDING = 'the parser reads one token after the other and gives back what it has not used yet '.repeat(
  3,
);

const plain = new WeakMap<Item, unknown>();

/** The messages as Anthropic's wire format has them: new values each time there is noise, and the same ones otherwise. */
export function renderItems(items: readonly Item[], noise: Noise): readonly unknown[] {
  if (noise === plainNoise) {
    return items.map((item) => {
      const raw = plain.get(item) ?? renderItem(item, plainNoise, false);
      plain.set(item, raw);
      return raw;
    });
  }
  return items.map((item, index) => renderItem(item, noise, items.length - 1 - index === noise.markerAt));
}

function renderItem({ kind, nonce, id }: Item, noise: Noise, isMarked: boolean): unknown {
  const role = kind === 'user' || kind === 'result' ? 'user' : 'assistant';
  const text = `#${nonce}# ${PADDING}`;
  const marker = isMarked ? { cache_control: { type: 'ephemeral' } } : {};
  const order = (fields: Readonly<Record<string, unknown>>) =>
    noise.swapsKeys ? Object.fromEntries(Object.entries(fields).toReversed()) : fields;
  const message = (content: unknown) => order({ role, content });
  switch (kind) {
    case 'call':
      return message([
        order({ type: 'text', text }),
        order({
          type: 'tool_use',
          id,
          name: 'read_file',
          input: order({ path: `src/${nonce % 3}.ts`, lines: 3 }),
          ...marker,
        }),
      ]);
    case 'result':
      return message([
        order({
          type: 'tool_result',
          tool_use_id: id,
          content: noise.writesBlocks ? [order({ type: 'text', text })] : text,
          ...(noise.writesBlocks ? { is_error: false } : {}),
          ...marker,
        }),
      ]);
    default:
      return isMarked || noise.writesBlocks
        ? message([order({ type: 'text', text, ...marker })])
        : message(text);
  }
}
