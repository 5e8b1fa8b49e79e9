/** Entries by name, of which those that were not asked for longest are forgotten. */
export interface Recent<Entry> {
  /** The entry of that name, made if there is none. */
  take(name: string): Entry;
}

/** Remembers so many entries. */
export function rememberRecent<Entry>(most: number, make: (name: string) => Entry): Recent<Entry> {
  const entries = new Map<string, Entry>();
  return {
    take(name) {
      const entry = entries.get(name) ?? make(name);
      entries.delete(name);
      entries.set(name, entry);
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
      return entry;
    },
  };
}
