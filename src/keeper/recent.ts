/** Entries by key. When there are too many, the one that was not used for longest is forgotten. */
export class Recent<Key, Entry> {
  readonly #most: number;
  readonly #mayLeave: (entry: Entry) => boolean;
  readonly #entries = new Map<Key, Entry>();

  constructor(most: number, mayLeave: (entry: Entry) => boolean = () => true) {
    this.#most = most;
    this.#mayLeave = mayLeave;
  }

  /** The entry of that key, without counting as its use. */
  get(key: Key): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Puts an entry in as the last used one. */
  use(key: Key, entry: Entry): Entry {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#most) this.#forgetOne(key);
    return entry;
  }

  /** The entry of that key, made if there is none. */
  take(key: Key, make: () => Entry): Entry {
    return this.use(key, this.get(key) ?? make());
  }

  /** All entries, the last used one last. */
  values(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  #forgetOne(used: Key): void {
    for (const [key, entry] of this.#entries) {
      if (key === used || !this.#mayLeave(entry)) continue;
      this.#entries.delete(key);
      return;
    }
  }
}
