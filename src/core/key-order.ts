/** The keys of an object in one order. */
export type KeyPlan<Known> = readonly PlannedKey<Known>[];

export interface PlannedKey<Known> {
  readonly key: string;
  /** How many keys come before it in the object's own order. */
  readonly place: number;
  readonly known: Known;
}

/** The first keys of an object in its own order. From none on, one step for each key leads to all of them. */
export interface KeyShape<Known> {
  /** These keys, and one more. */
  with(key: string): KeyShape<Known>;
  /** The keys in the order of their UTF-16 units, each with what is known of it. */
  readonly plan: KeyPlan<Known>;
}

/** Objects of messages have few shapes. Keys that are data may be as many as they like: those are not remembered. */
const MOST_SHAPES = 2000;
const LONGEST_KEY = 100;

/** No keys. Shapes that come again and again are remembered from there on, with what `know` says of each key. */
export function startOfShapes<Known>(know: (key: string) => Known): KeyShape<Known> {
  return new Shape({ know, count: 0 }, undefined, '', true);
}

interface Shapes<Known> {
  readonly know: (key: string) => Known;
  /** How many are remembered. */
  count: number;
}

class Shape<Known> implements KeyShape<Known> {
  readonly #shapes: Shapes<Known>;
  readonly #before: Shape<Known> | undefined;
  readonly #key: string;
  readonly #isRemembered: boolean;
  #plan: KeyPlan<Known> | undefined;
  #next: Map<string, Shape<Known>> | undefined;
  /** Nearly always the same key follows. */
  #lastKey: string | undefined;
  #last: Shape<Known> | undefined;

  constructor(shapes: Shapes<Known>, before: Shape<Known> | undefined, key: string, isRemembered: boolean) {
    this.#shapes = shapes;
    this.#before = before;
    this.#key = key;
    this.#isRemembered = isRemembered;
  }

  with(key: string): Shape<Known> {
    return key === this.#lastKey && this.#last !== undefined ? this.#last : this.#lookUp(key);
  }

  get plan(): KeyPlan<Known> {
    this.#plan ??= this.#makePlan();
    return this.#plan;
  }

  #lookUp(key: string): Shape<Known> {
    const shapes = this.#shapes;
    let next = this.#next?.get(key);
    if (next === undefined) {
      const isRemembered = this.#isRemembered && shapes.count < MOST_SHAPES && key.length <= LONGEST_KEY;
      next = new Shape(shapes, this, key, isRemembered);
      if (!isRemembered) return next;
      shapes.count++;
      this.#next ??= new Map();
      this.#next.set(key, next);
    }
    this.#lastKey = key;
    this.#last = next;
    return next;
  }

  #makePlan(): KeyPlan<Known> {
    const keys: string[] = [];
    for (let shape: Shape<Known> = this; shape.#before !== undefined; shape = shape.#before)
      keys.push(shape.#key);
    return keys
      .reverse()
      .map((key, place) => ({ key, place, known: this.#shapes.know(key) }))
      .sort((left, right) => (left.key < right.key ? -1 : 1));
  }
}
