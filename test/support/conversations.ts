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

/** The smallest picture there is. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURE_URL = `data:image/png;base64,${PICTURE}`;

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

/** Writes steps as the messages of a wire format. */
export type Writer = (list: readonly Step[]) => readonly unknown[];

/** One writer per wire format, each giving only what the provider accepts. */
export const writers: Readonly<Record<string, Writer>> = {
  'anthropic-messages': (list) => mergeTurns(list.flatMap(anthropicTurns)),
  'openai-chat': (list) => list.flatMap(chatMessages),
  'openai-responses': (list) => list.flatMap(responsesItems),
  gemini: (list) =>
    mergeTurns(list.flatMap(geminiTurns)).map(({ role, content }) => ({ role, parts: content })),
};

interface Turn {
  readonly role: string;
  readonly content: readonly unknown[];
}

/** Questions that follow results go into the same user message. */
function mergeTurns(turns: readonly Turn[]): readonly Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns.filter(({ content }) => content.length > 0)) {
    const last = merged.at(-1);
    if (last?.role === turn.role)
      merged[merged.length - 1] = { ...last, content: [...last.content, ...turn.content] };
    else merged.push(turn);
  }
  return merged;
}

function anthropicTurns({ question, showsPicture, thinking, said, calls }: Step): readonly Turn[] {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } };
  return [
    {
      role: 'user',
      content: beside(question, showsPicture, { text: (value) => ({ type: 'text', text: value }), picture }),
    },
    {
      role: 'assistant',
      content: [
        ...optional(thinking, (value) => ({ type: 'thinking', thinking: value, signature: 'c2ln' })),
        ...optional(said, (value) => ({ type: 'text', text: value })),
        ...calls.map(({ id, name, path }) => ({ type: 'tool_use', id, name, input: { path } })),
      ],
    },
    {
      role: 'user',
      content: calls.map((call) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: call.showsPicture === true ? [{ type: 'text', text: call.output }, picture] : call.output,
        ...(call.hasFailed === true ? { is_error: true } : {}),
      })),
    },
  ];
}

function chatMessages({ question, showsPicture, thinking, said, calls }: Step): readonly unknown[] {
  const picture = { type: 'image_url', image_url: { url: PICTURE_URL } };
  const toolCalls = calls.map(({ id, name, path }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify({ path }) },
  }));
  return [
    ...optional(question, (asked) => ({
      role: 'user',
      content: showsPicture === true ? [{ type: 'text', text: asked }, picture] : asked,
    })),
    {
      role: 'assistant',
      content: said ?? null,
      ...(thinking === undefined ? {} : { reasoning_content: thinking }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    },
    ...calls.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output })),
  ];
}

function responsesItems({ question, showsPicture, thinking, said, calls }: Step): readonly unknown[] {
  const picture = { type: 'input_image', image_url: PICTURE_URL, detail: 'auto' };
  return [
    ...optional(question, (asked) => ({
      role: 'user',
      content: showsPicture === true ? [{ type: 'input_text', text: asked }, picture] : asked,
    })),
    ...optional(thinking, (value) => ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: value }],
    })),
    ...optional(said, (value) => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: value, annotations: [] }],
    })),
    ...calls.map(({ id, name, path }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify({ path }),
    })),
    ...calls.map((call) => ({
      type: 'function_call_output',
      call_id: call.id,
      output: call.showsPicture === true ? [{ type: 'input_text', text: call.output }, picture] : call.output,
    })),
  ];
}

function geminiTurns({ question, showsPicture, said, calls }: Step): readonly Turn[] {
  const picture = { inlineData: { mimeType: 'image/png', data: PICTURE } };
  return [
    {
      role: 'user',
      content: beside(question, showsPicture, { text: (value) => ({ text: value }), picture }),
    },
    {
      role: 'model',
      content: [
        ...optional(said, (value) => ({ text: value })),
        ...calls.map(({ name, path }) => ({ functionCall: { name, args: { path } } })),
      ],
    },
    {
      role: 'user',
      content: calls.map(({ name, output }) => ({ functionResponse: { name, response: { output } } })),
    },
  ];
}

/** A question and the picture beside it, if there are any. */
function beside(
  question: string | undefined,
  showsPicture: boolean | undefined,
  { text: write, picture }: { readonly text: (value: string) => unknown; readonly picture: unknown },
): readonly unknown[] {
  const asked = optional(question, write);
  return asked.length > 0 && showsPicture === true ? [...asked, picture] : asked;
}

function optional<Value>(value: Value | undefined, write: (value: Value) => unknown): readonly unknown[] {
  return value === undefined ? [] : [write(value)];
}

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
