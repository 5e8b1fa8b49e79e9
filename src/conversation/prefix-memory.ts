/** A value that is built from a list, item by item. */
export interface Fold<Item, State> {
  start(): State;
  /** Takes the next item into the state. */
  add(state: State, item: Item, index: number): void;
  /** Takes the state back to its first `length` items, so that a list changed near its end goes on from the change. */
  rewind?(state: State, length: number): void;
}

interface Remembered<Item, State> {
  items: readonly Item[];
  readonly state: State;
}

/** Lists with one first item that are remembered side by side: a conversation, its shortened form, a branch. */
const LISTS = 3;

/**
 * Folds lists that grow at their end, as conversations do: a list that begins with one folded before goes on from
 * there, so that a turn costs what is new in it and one comparison for each old item. A list that was changed in any
 * other way is folded anew, unless the fold can be rewound. What is remembered vanishes with the first item.
 *
 * The state belongs to the memory and changes with the next call: take from it what you need.
 */
export function rememberFold<Item extends object, State>(
  fold: Fold<Item, State>,
): (items: readonly Item[]) => State {
  const memory = new WeakMap<Item, Remembered<Item, State>[]>();
  return (items) => {
    const [first] = items;
    if (first === undefined) return fold.start();
    const lists = memory.get(first) ?? [];
    if (lists.length === 0) memory.set(first, lists);
    const known = goOnFrom(lists, items, fold);
    for (let index = known.items.length; index < items.length; index++) {
      const item = items[index];
      if (item !== undefined) fold.add(known.state, item, index);
    }
    // A copy: the list itself may be pushed to later.
    if (known.items.length < items.length) known.items = items.slice();
    return known.state;
  };
}

/** The remembered list to go on from, moved to the front; a new one when none will do. */
function goOnFrom<Item, State>(
  lists: Remembered<Item, State>[],
  items: readonly Item[],
  { start, rewind }: Fold<Item, State>,
): Remembered<Item, State> {
  const best = findBest(lists, items, rewind !== undefined);
  if (best === undefined) {
    const fresh: Remembered<Item, State> = { items: [], state: start() };
    lists.unshift(fresh);
    if (lists.length > LISTS) lists.pop();
    return fresh;
  }
  const { known, shared } = best;
  if (shared < known.items.length) {
    rewind?.(known.state, shared);
    known.items = known.items.slice(0, shared);
  }
  if (lists[0] !== known) {
    lists.splice(lists.indexOf(known), 1);
    lists.unshift(known);
  }
  return known;
}

/** The remembered list that shares the longest beginning, if its state can be used for these items. */
function findBest<Item, State>(
  lists: readonly Remembered<Item, State>[],
  items: readonly Item[],
  canRewind: boolean,
): { readonly known: Remembered<Item, State>; readonly shared: number } | undefined {
  let best: { readonly known: Remembered<Item, State>; readonly shared: number } | undefined;
  for (const known of lists) {
    const shared = sharedLength(known.items, items);
    const isUsable = shared === known.items.length || (canRewind && shared * 2 > known.items.length);
    if (isUsable && (best === undefined || shared > best.shared)) best = { known, shared };
  }
  return best;
}

function sharedLength<Item>(known: readonly Item[], items: readonly Item[]): number {
  const limit = Math.min(known.length, items.length);
  let index = 0;
  while (index < limit && known[index] === items[index]) index++;
  return index;
}
