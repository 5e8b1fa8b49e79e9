import fc from 'fast-check';

/** One way in which a recording can be broken, and where. Places beyond the end wrap around. */
export interface Mangle {
  readonly kind: keyof typeof mangles;
  readonly at: number;
  readonly to: number;
}

type Fields = Readonly<Record<string, unknown>>;
type Change = (list: readonly unknown[], at: number, to: number) => readonly unknown[];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const LISTS = ['tool_calls', 'content', 'parts'];

/** Changes the blocks of one message, where it has a list of them. */
const onBlocks =
  (change: Change): Change =>
  (list, at, to) => {
    const message = list[at];
    const key = isFields(message) ? LISTS.find((name) => Array.isArray(message[name])) : undefined;
    if (!isFields(message) || key === undefined) return list;
    const blocks = message[key] as readonly unknown[];
    return blocks.length === 0
      ? list
      : list.with(at, { ...message, [key]: change(blocks, to % blocks.length, at) });
  };

const onMessage =
  (change: (message: Fields, to: number) => unknown): Change =>
  (list, at, to) => {
    const message = list[at];
    return isFields(message) ? list.with(at, change(message, to)) : list;
  };

const drop: Change = (list, at) => list.toSpliced(at, 1);
const double: Change = (list, at) => list.toSpliced(at, 0, list[at]);
const move: Change = (list, at, to) => list.toSpliced(at, 1).toSpliced(to % list.length, 0, list[at]);

/** Every id anywhere in a value by another one. */
function renameIds(value: unknown, to: number): unknown {
  const text = JSON.stringify(value);
  return JSON.parse(
    text.replaceAll(/call_\d+/g, (id) =>
      to % 3 === 0 ? 'call_0' : to % 3 === 1 ? `${id} x/` : id.repeat(9),
    ),
  );
}

/** Every text anywhere in a block or message blank. */
function blank(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      (key === 'text' || key === 'content') && typeof inner === 'string' ? '  \n' : inner,
    ),
  );
}

const ODD: readonly unknown[] = [
  null,
  7,
  true,
  'a loose line',
  [],
  {},
  { role: 'user' },
  { type: 'text', text: 'a loose block' },
  [1],
];

const mangles = {
  drop,
  double,
  move,
  swap: ((list, at) =>
    at + 1 < list.length ? list.toSpliced(at, 2, list[at + 1], list[at]) : list) as Change,
  'cut the beginning': ((list, at) => list.slice(at)) as Change,
  'cut the end': ((list, at) => list.slice(0, at + 1)) as Change,
  'drop a block': onBlocks(drop),
  'double a block': onBlocks(double),
  'move a block': onBlocks(move),
  'odd block': onBlocks((list, at, to) => list.toSpliced(at, 0, ODD[to % ODD.length])),
  'odd message': ((list, at, to) => list.toSpliced(at, 0, ODD[to % ODD.length])) as Change,
  'rename ids': onMessage(renameIds),
  blank: onMessage(blank),
  wrap: onMessage((message) => ({ uuid: 'u1', timestamp: '2026-01-01', message })),
  'extra fields': onMessage((message) => ({ ...message, uuid: 'u1', parentUuid: null, isMeta: true })),
  'no content': onMessage(({ content: _content, parts: _parts, ...rest }) => rest),
  'null content': onMessage((message) => ({ ...message, content: null })),
  'other role': onMessage((message, to) => ({
    ...message,
    role: ['user', 'assistant', 'system', 'tool', 'model', 'narrator', 5][to % 7],
  })),
  system: ((list, at) => list.toSpliced(at, 0, { role: 'system', content: 'Answer in French.' })) as Change,
  'no ids': onMessage((message) =>
    JSON.parse(
      JSON.stringify(message, (key, value: unknown) =>
        ['id', 'tool_use_id', 'call_id', 'tool_call_id', 'toolCallId'].includes(key) ? undefined : value,
      ),
    ),
  ),
} as const satisfies Readonly<Record<string, Change>>;

/** The names of all ways. */
const mangleKinds = Object.keys(mangles) as readonly Mangle['kind'][];

/** Up to five of them, one after the other. */
export const someMangles: fc.Arbitrary<readonly Mangle[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...mangleKinds), at: fc.nat(40), to: fc.nat(40) }),
  { minLength: 1, maxLength: 5 },
);

/** The list after all of them. */
export function mangle(list: readonly unknown[], all: readonly Mangle[]): readonly unknown[] {
  return all.reduce<readonly unknown[]>(
    (messages, { kind, at, to }) =>
      messages.length === 0 ? messages : mangles[kind](messages, at % messages.length, to),
    list,
  );
}
