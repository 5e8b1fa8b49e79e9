const ILLEGAL = /[^a-zA-Z0-9_-]/g;

/**
 * Gives out names of letters, digits, underscores and hyphens, each once. A name that is legal and free is kept; from
 * another one as much as possible is.
 */
export class LegalNames {
  private readonly taken = new Set<string>();
  /** Where the search for a free number goes on, by stem. */
  private readonly numbers = new Map<string, number>();
  private readonly known = new Map<string, string>();
  private readonly maxLength: number;
  private readonly fallback: string;

  /** @param fallback stem of names for those that have none */
  constructor(maxLength: number, fallback: string) {
    this.maxLength = maxLength;
    this.fallback = fallback;
  }

  /** A legal name that was not given out before. */
  take(wanted: string | undefined): string {
    const stem = (wanted ?? '').slice(0, this.maxLength).replaceAll(ILLEGAL, '_') || this.fallback;
    const isWhole = wanted !== undefined && wanted !== '' && wanted.length <= this.maxLength;
    const name = isWhole && !this.taken.has(stem) ? stem : this.numbered(stem);
    this.taken.add(name);
    return name;
  }

  /** The legal name of this thing: the same one every time. */
  get(wanted: string): string {
    const name = this.known.get(wanted) ?? this.take(wanted);
    this.known.set(wanted, name);
    return name;
  }

  private numbered(stem: string): string {
    for (let number = this.numbers.get(stem) ?? 1; ; number++) {
      const suffix = `_${number}`;
      const name = `${stem.slice(0, this.maxLength - suffix.length)}${suffix}`;
      if (this.taken.has(name)) continue;
      this.numbers.set(stem, number + 1);
      return name;
    }
  }
}
