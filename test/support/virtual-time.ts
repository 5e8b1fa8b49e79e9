import { AsyncLocalStorage } from 'node:async_hooks';

interface Timer {
  readonly at: number;
  readonly task: () => void;
  /** Whose timer it is: it never fires once that has died. */
  readonly owner: Mortal | undefined;
}

/** Something that may end at any moment, with everything it was about to do. */
export interface Mortal {
  readonly isDead: boolean;
}

/** A clock that stands still until it is told to go on, and its timers. */
export class VirtualTime {
  now = 1_000_000_000;
  #timers: Timer[] = [];

  /** Runs a task later; the answer calls it off. */
  schedule(task: () => void, milliseconds: number, owner?: Mortal): () => void {
    // Whoever is waited for is whoever was at work when the wait began.
    const timer = { at: this.now + milliseconds, task: AsyncLocalStorage.bind(task), owner };
    const place = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(place === -1 ? this.#timers.length : place, 0, timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  wait(milliseconds: number, owner?: Mortal): Promise<void> {
    return new Promise((resolve) => this.schedule(resolve, milliseconds, owner));
  }

  /** How many timers belong to somebody who lives. */
  get pending(): number {
    return this.#timers.filter(({ owner }) => owner?.isDead === false).length;
  }

  /** Lets everybody have so many turns while this much time passes. */
  async pass(turns: number, milliseconds: number): Promise<void> {
    const end = this.now + milliseconds;
    for (let turn = 1; turn <= turns; turn++) {
      this.#goTo(end - Math.floor((milliseconds * (turns - turn)) / turns));
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#goTo(end);
  }

  #goTo(time: number): void {
    for (let [next] = this.#timers; next !== undefined && next.at <= time; [next] = this.#timers) {
      this.#timers.shift();
      this.now = Math.max(this.now, next.at);
      if (next.owner?.isDead !== true) next.task();
    }
    this.now = Math.max(this.now, time);
  }
}
