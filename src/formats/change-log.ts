/** Something that the target format could not take as it was, and what became of it. */
export interface ConversionChange {
  /** In the singular: `reasoning block`, `call id`. */
  readonly what: string;
  /** `left out`, `replaced by a note`, … */
  readonly became: string;
  readonly count: number;
}

/** Counts what changes on the way from one format to another. */
export class ChangeLog {
  private readonly counts = new Map<string, ConversionChange>();

  add(what: string, became: string, count = 1): void {
    const key = `${what}\n${became}`;
    const before = this.counts.get(key)?.count ?? 0;
    this.counts.set(key, { what, became, count: before + count });
  }

  /** Every change once, in the order in which they were first met. */
  list(): readonly ConversionChange[] {
    return [...this.counts.values()];
  }
}
