/** A position in one number, so that millions of them cost no objects. */
export type PackedPosition = number;

/** So many open calls are searched one by one; nearly every result follows its call at once. */
const RECENT = 16;

/** Calls with an id that wait for a result. */
export class OpenCalls {
  private readonly recentIds: string[] = [];
  private readonly recentPositions: PackedPosition[] = [];
  private readonly older = new Map<string, PackedPosition>();

  /** Opens a call; gives back the one that was open under its id. */
  add(id: string, position: PackedPosition): PackedPosition | undefined {
    const replaced = this.take(id);
    if (this.recentIds.length === RECENT) this.putAside();
    this.recentIds.push(id);
    this.recentPositions.push(position);
    return replaced;
  }

  /** Closes the call of that id and gives its position; undefined when none is open. */
  take(id: string): PackedPosition | undefined {
    let index = this.recentIds.length - 1;
    while (index >= 0 && this.recentIds[index] !== id) index--;
    if (index >= 0) return this.removeRecent(index);
    if (this.older.size === 0) return undefined;
    const position = this.older.get(id);
    this.older.delete(id);
    return position;
  }

  all(): readonly PackedPosition[] {
    return [...this.older.values(), ...this.recentPositions];
  }

  private removeRecent(index: number): PackedPosition | undefined {
    const position = this.recentPositions[index];
    // A batch is mostly answered in its order: what remains is moved up, which costs less than cutting it out.
    for (let next = index + 1; next < this.recentIds.length; next++) {
      this.recentIds[next - 1] = this.recentIds[next] ?? '';
      this.recentPositions[next - 1] = this.recentPositions[next] ?? 0;
    }
    this.recentIds.pop();
    this.recentPositions.pop();
    return position;
  }

  private putAside(): void {
    for (const [index, id] of this.recentIds.entries()) this.older.set(id, this.recentPositions[index] ?? 0);
    this.recentIds.length = 0;
    this.recentPositions.length = 0;
  }
}

/** Calls without id that wait for a result: a queue for each name, first come first served. */
export class OpenCallsByName {
  private readonly queues = new Map<string, Queue>();

  add(name: string, position: PackedPosition): void {
    const queue = this.queues.get(name);
    if (queue === undefined) this.queues.set(name, { calls: [position], next: 0 });
    else queue.calls.push(position);
  }

  /** The first call of that name; the first of all when the result has no name. */
  take(name: string | undefined): PackedPosition | undefined {
    if (this.queues.size === 0) return undefined;
    const queue = name === undefined ? this.longestWaiting() : this.queues.get(name);
    const call = queue?.calls[queue.next];
    if (queue !== undefined && call !== undefined) queue.next++;
    return call;
  }

  all(): readonly PackedPosition[] {
    return [...this.queues.values()].flatMap(({ calls, next }) => calls.slice(next));
  }

  private longestWaiting(): Queue | undefined {
    const first = ({ calls, next }: Queue) => calls[next] ?? Number.POSITIVE_INFINITY;
    return [...this.queues.values()].toSorted((left, right) => first(left) - first(right))[0];
  }
}

interface Queue {
  readonly calls: PackedPosition[];
  next: number;
}
