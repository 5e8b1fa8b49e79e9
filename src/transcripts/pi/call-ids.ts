/** Names calls so that every provider takes the names. */
export interface CallIds {
  /** The name of the call that the file knows by this id: the id itself where it is legal, and always the same one. */
  nameOf(id: string): string;
}

/** As long as the strictest provider allows. */
const LONGEST = 64;

/**
 * Legal names for the ids in a file. The Responses API gives a call two ids, which pi writes as `call_1|fc_1`; other
 * servers use dots and colons, or hundreds of characters. Two ids never get one name.
 */
export function createCallIds(): CallIds {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return {
    nameOf(id) {
      const known = names.get(id);
      if (known !== undefined) return known;
      const wanted = id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, LONGEST) || 'call';
      let name = wanted;
      for (let count = 2; taken.has(name); count++) {
        const suffix = `_${count}`;
        name = wanted.slice(0, LONGEST - suffix.length) + suffix;
      }
      names.set(id, name);
      taken.add(name);
      return name;
    },
  };
}
