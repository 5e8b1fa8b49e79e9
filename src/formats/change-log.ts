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

/** `1 call id shortened`, `3 tool calls without a result given one that says so`. */
export function describeChange({ what, became, count }: ConversionChange): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? what : pluralOf(what)} ${became}`;
}

/** Words behind the noun that a name is about. */
const BEHIND_NOUN = / (?:without|with|of|in|at|around|by|that|whose)\b/;

const PLURAL_VERBS: readonly (readonly [RegExp, string])[] = [
  [/ that is\b/, ' that are'],
  [/ that (begin|end|stand)s\b/, ' that $1'],
];

function pluralOf(what: string): string {
  const end = BEHIND_NOUN.exec(what)?.index ?? what.length;
  const behind = PLURAL_VERBS.reduce((text, [verb, plural]) => text.replace(verb, plural), what.slice(end));
  return `${what.slice(0, end)}s${behind}`;
}
