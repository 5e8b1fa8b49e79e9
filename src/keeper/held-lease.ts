import type { Lease, Store } from '../stores/store.ts';

/** Runs a task later; the answer calls it off. */
export type Schedule = (task: () => void, milliseconds: number) => () => void;

/** Renewals after which a run has had its time: ten times the time of a lease. */
const MOST_RENEWALS = 30;

export interface HeldLease {
  /** The lease as it is now. */
  current(): Lease;
  /** Ends the renewals. */
  stop(): void;
}

export interface HoldOptions {
  readonly milliseconds: number;
  readonly schedule: Schedule;
  /** The store could not be asked; it is asked again. */
  onFailure(error: unknown): void;
  /** Nobody works that long: the lease is left to run out. */
  onOverdue(): void;
}

/** Renews a lease whenever a third of its time has passed. One that was lost is not taken back. */
export function holdLease(store: Store, lease: Lease, options: HoldOptions): HeldLease {
  const { milliseconds, schedule, onFailure, onOverdue } = options;
  let current = lease;
  let isOver = false;
  let renewals = 0;
  let cancel = schedule(renew, milliseconds / 3);

  function renew(): void {
    if (isOver) return;
    renewals++;
    if (renewals > MOST_RENEWALS) {
      isOver = true;
      onOverdue();
      return;
    }
    store
      .renew(current, milliseconds)
      .then((renewed) => {
        if (renewed === undefined) isOver = true;
        else current = renewed;
      }, onFailure)
      .finally(() => {
        if (!isOver) cancel = schedule(renew, milliseconds / 3);
      });
  }

  return {
    current: () => current,
    stop() {
      isOver = true;
      cancel();
    },
  };
}
