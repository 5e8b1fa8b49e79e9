import fc from 'fast-check';

/** One response of the model and what came back for its calls, before it is written in a wire format. */
export interface Step {
  readonly question: string | undefined;
  /** Whether a picture stands beside the question. */
  readonly showsPicture?: boolean;
  readonly thinking: string | undefined;
  readonly said: string | undefined;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly output: string;
  /** Whether the tool failed, where a format can say so. */
  readonly hasFailed?: boolean;
  /** Whether a picture stands beside the output, where a format allows one there. */
  readonly showsPicture?: boolean;
}

const text = fc.oneof(
  { weight: 4, arbitrary: fc.lorem({ maxCount: 6 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '日本語のテキスト',
      'naïve — “quotes”',
      '{"json": [1, 2]}',
      '<b>&amp;</b>',
      '\u2028 x',
    ),
  },
);

const call = fc.record({
  name: fc.constantFrom('read_file', 'bash', 'search'),
  path: fc.constantFrom('src/a.ts', 'src/b.ts', 'README.md'),
  output: text,
});

const step = fc.record({
  question: fc.option(text, { nil: undefined, freq: 2 }),
  thinking: fc.option(text, { nil: undefined }),
  said: fc.option(text, { nil: undefined }),
  calls: fc.array(call, { maxLength: 3 }),
});

/** A whole agent session in steps. The first step asks something; every step says or does something. */
export const steps: fc.Arbitrary<readonly Step[]> = fc
  .array(step, { minLength: 1, maxLength: 12 })
  .map((list) => {
    let ids = 0;
    return list.map(({ calls, ...rest }, index) => ({
      ...rest,
      question: rest.question ?? (index === 0 || list[index - 1]?.calls.length === 0 ? 'go on' : undefined),
      said: rest.said ?? (calls.length === 0 ? 'done' : undefined),
      calls: calls.map((made) => ({ ...made, id: `call_${ids++}` })),
    }));
  });

/** Ways in which harnesses break a list: a message lost, doubled, moved, two swapped, a block lost or doubled. */
export type Damage =
  | { readonly kind: 'drop' | 'double' | 'swap' | 'drop-block' | 'double-block'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number };

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({
    kind: fc.constantFrom<'drop' | 'double' | 'swap' | 'drop-block' | 'double-block'>(
      'drop',
      'double',
      'swap',
      'drop-block',
      'double-block',
    ),
    at: fc.nat(40),
  }),
  fc.record({ kind: fc.constant<'move'>('move'), at: fc.nat(40), to: fc.nat(40) }),
);

/** Up to four damages. */
export const damages: fc.Arbitrary<readonly Damage[]> = fc.array(damage, { maxLength: 4 });

/** The list after all damages. Places beyond its end wrap around. */
export function applyDamages(list: readonly unknown[], all: readonly Damage[]): readonly unknown[] {
  return all.reduce<readonly unknown[]>(
    (messages, one) => (messages.length === 0 ? messages : applyDamage(messages, one)),
    list,
  );
}

function applyDamage(messages: readonly unknown[], one: Damage): readonly unknown[] {
  const at = one.at % messages.length;
  const message = messages[at];
  switch (one.kind) {
    case 'drop':
      return messages.toSpliced(at, 1);
    case 'double':
      return messages.toSpliced(at, 0, message);
    case 'swap':
      return at + 1 < messages.length ? messages.toSpliced(at, 2, messages[at + 1], message) : messages;
    case 'move':
      return messages.toSpliced(at, 1).toSpliced(one.to % messages.length, 0, message);
    case 'drop-block':
      return messages.with(
        at,
        changeBlocks(message, (blocks) => blocks.slice(0, -1)),
      );
    case 'double-block':
      return messages.with(
        at,
        changeBlocks(message, (blocks) => [...blocks, ...blocks.slice(-1)]),
      );
  }
}

function changeBlocks(message: unknown, change: (blocks: readonly unknown[]) => readonly unknown[]): unknown {
  const fields = message as Readonly<Record<string, unknown>>;
  for (const key of ['tool_calls', 'content', 'parts']) {
    const blocks = fields[key];
    if (!Array.isArray(blocks)) continue;
    const { [key]: _old, ...rest } = fields;
    const changed = change(blocks);
    // An empty list of calls is a fault of its own, which no harness makes; without calls there is no list.
    return key === 'tool_calls' && changed.length === 0 ? rest : { ...rest, [key]: changed };
  }
  return message;
}
