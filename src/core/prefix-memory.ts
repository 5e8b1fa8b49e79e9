/** A value that is built from a list, item by item. */
export interface Fold<Item, State> {
  start(): State;
  /** Takes the next item into the state. */
  add(state: State, item: Item, index: number): void;
}

interface Remembered<Item, State> {
  readonly items: Item[];
  readonly state: State;
}

/**
 * Folds lists that grow at their end, as conversations do: a list that begins with the one folded before goes on from
 * there, so that a turn costs what is new in it and one comparison for each old item. A list that was changed in any
 * other way is folded anew. What is remembered vanishes with the first item.
 *
 * The state belongs to the memory and changes with the next call: take from it what you need.
 */
export function rememberFold<Item extends object, State>({
  start,
  add,
}: Fold<Item, State>): (items: readonly Item[]) => State {
  const memory = new WeakMap<Item, Remembered<Item, State>>();
  return (items) => {
    const [first] = items;
    if (first === undefined) return start();
    let known = memory.get(first);
    if (known === undefined || !isBeginning(known.items, items)) {
      known = { items: [], state: start() };
      memory.set(first, known);
    }
    for (let index = known.items.length; index < items.length; index++) {
      const item = items[index];
      if (item === undefined) continue;
      add(known.state, item, index);
      known.items.push(item);
    }
    return known.state;
  };
}

function isBeginning<Item>(beginning: readonly Item[], items: readonly Item[]): boolean {
  if (beginning.length > items.length) return false;
  for (let index = 0; index < beginning.length; index++) {
    if (beginning[index] !== items[index]) return false;
  }
  return true;
}
