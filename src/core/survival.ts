import { type Fact, type FactKind, factKinds } from './facts.ts';

/** What became of the facts of one kind. */
export interface Survival {
  readonly kind: FactKind;
  readonly found: number;
  /** Still there in the words of the source, by themselves. */
  readonly kept: number;
  /** Lost by the summary, and brought back from the source. */
  readonly restored: number;
  /** Gone from the request; some of them, the newest. */
  readonly lost: number;
  readonly examples: readonly string[];
}

/** Heading of the lines that bring back what a summary has lost. Nothing else in a summary is read back as facts. */
const LEDGER_HEADING = 'Kept word for word from the messages that stood here:';
const LINE = /^- \[([a-z-]{2,20})\] (.*)$/;

/** A summary, and the facts that were brought back behind it the last time. */
export interface SummaryWithFacts {
  readonly summary: string;
  readonly facts: readonly Fact[];
}

/** Parts a summary from the facts behind it. */
export function readLedger(text: string): SummaryWithFacts {
  const at = text.lastIndexOf(`\n${LEDGER_HEADING}\n`);
  if (at === -1) return { summary: text, facts: [] };
  const lines = text.slice(at + LEDGER_HEADING.length + 2).split('\n');
  const facts = lines.flatMap((line) => {
    const [, kind, fact] = LINE.exec(line) ?? [];
    const known = factKinds.find((each) => each === kind);
    return known === undefined || fact === undefined ? [] : [{ kind: known, text: fact }];
  });
  // Whoever writes such a heading into a conversation adds nothing to what we know.
  return facts.length === lines.length
    ? { summary: text.slice(0, at).trimEnd(), facts }
    : { summary: text, facts: [] };
}

export interface TopUpOptions {
  /** Texts that stay in the request as they are. */
  readonly keptTexts: readonly string[];
  /** Tokens that the summary and what is brought back may have. Demands of the user come back whatever they cost. */
  readonly maximumTokens: number;
  readonly countText: (text: string) => number;
}

/** Share of the room behind a summary that brought-back facts may take; the rest is the summarizer's choice. */
const LEDGER_SHARE = 0.25;
const EXAMPLES = 5;

/** Brings back what a summary has lost, as far as there is room, and accounts for every fact. */
export function topUp(
  summary: string,
  facts: readonly Fact[],
  { keptTexts, maximumTokens, countText }: TopUpOptions,
): { readonly text: string; readonly survival: readonly Survival[] } {
  const texts = [summary, ...keptTexts];
  const missing = facts.filter(({ text }) => !texts.some((each) => each.includes(text)));
  let room = Math.max(0, maximumTokens - countText(summary)) * LEDGER_SHARE;
  const restored = new Set<Fact>();
  for (const kind of factKinds) {
    for (const fact of missing.filter((each) => each.kind === kind).toReversed()) {
      const tokens = countText(lineOf(fact));
      const isDue = fact.kind === 'constraint' || (RESTORED.has(kind) && tokens <= room);
      if (!isDue || fact.text.includes('\n')) continue;
      room -= tokens;
      restored.add(fact);
    }
  }
  const lines = facts.filter((fact) => restored.has(fact)).map(lineOf);
  const text = lines.length === 0 ? summary : [summary, '', LEDGER_HEADING, ...lines].join('\n');
  return { text, survival: accountFor(facts, missing, restored) };
}

/** Names and numbers by themselves say nothing: they are counted, and kept by whoever writes the summary. */
const RESTORED: ReadonlySet<FactKind> = new Set(['constraint', 'open-work', 'ask', 'path', 'error']);

function lineOf({ kind, text }: Fact): string {
  return `- [${kind}] ${text}`;
}

function accountFor(
  facts: readonly Fact[],
  missing: readonly Fact[],
  restored: ReadonlySet<Fact>,
): readonly Survival[] {
  return factKinds.flatMap((kind) => {
    const found = facts.filter((fact) => fact.kind === kind).length;
    const gone = missing.filter((fact) => fact.kind === kind);
    const lost = gone.filter((fact) => !restored.has(fact));
    if (found === 0) return [];
    return [
      {
        kind,
        found,
        kept: found - gone.length,
        restored: gone.length - lost.length,
        lost: lost.length,
        examples: lost.slice(-EXAMPLES).map(({ text }) => text),
      },
    ];
  });
}
