/** The keys of an object in one order, with what is known of each. */
export type KeyPlan<Known> = readonly KeyKnowledge<Known>[];

export interface KeyKnowledge<Known> {
  readonly key: string;
  readonly known: Known;
}

interface Place<Known> {
  readonly next: Map<string, Place<Known>>;
  plan: KeyPlan<Known> | undefined;
}

/** Objects of messages have few shapes. Keys that are data may be as many as they like: those are not remembered. */
const MOST_PLACES = 2000;
const LONGEST_KEY = 100;

/**
 * Tells the keys of objects in the order of their UTF-16 units. The sequences of keys that come again and again are
 * remembered with their order and with what `know` says of each key.
 */
export function rememberKeyOrder<Known>(know: (key: string) => Known): (object: object) => KeyPlan<Known> {
  let places = 0;
  const start: Place<Known> = { next: new Map(), plan: undefined };
  const planOf = (keys: readonly string[]) =>
    keys.toSorted(byUnits).map((key) => ({ key, known: know(key) }));
  return (object) => {
    const keys = Object.keys(object);
    let place = start;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] ?? '';
      let next = place.next.get(key);
      if (next === undefined) {
        if (places >= MOST_PLACES || key.length > LONGEST_KEY) return planOf(keys);
        places++;
        next = { next: new Map(), plan: undefined };
        place.next.set(key, next);
      }
      place = next;
    }
    place.plan ??= planOf(keys);
    return place.plan;
  };
}

function byUnits(left: string, right: string): number {
  return left < right ? -1 : 1;
}
