import { argumentTexts } from './argument-texts.ts';
import type { Covered } from './covered.ts';
import { type Fact, type FactKind, factKinds } from './facts.ts';
import { createTextFinder } from './find-texts.ts';
import {
  headingTokens,
  type Ledger,
  lineTokens,
  placeTokens,
  readLedger,
  withLedger,
  withoutHeading,
} from './ledger.ts';
import { type Block, callArguments, textOf } from './message.ts';
import { standingAlone } from './standing-alone.ts';

/** What became of the facts of one kind: `found` is the sum of the next three. */
export interface Survival {
  readonly kind: FactKind;
  readonly found: number;
  /** Still there in the words of the source, by themselves. */
  readonly kept: number;
  /** Lost by the summary, and brought back from the source. */
  readonly restored: number;
  /** Gone from the request. */
  readonly lost: number;
  /** Some of those that are gone, the newest. */
  readonly examples: readonly string[];
}

export interface TopUpOptions {
  /**
   * Tokens that the summary and what is brought back may have. Demands of the user come back whatever they cost, and are
   * the one thing that may take more.
   */
  readonly maximumTokens: number;
  readonly countText: (text: string) => number;
}

/** A summary with what was brought back behind it, and the account of it. */
export interface ToppedUp {
  readonly text: string;
  /** By kind, those of which something was found. */
  readonly survival: readonly Survival[];
}

/** Share of the room behind a summary that brought-back facts may take; the rest is the summarizer's choice. */
const LEDGER_SHARE = 0.25;
const EXAMPLES = 5;

/** Names and numbers by themselves say nothing: they are counted, and kept by whoever writes the summary. */
const RESTORED: ReadonlySet<FactKind> = new Set(['constraint', 'open-work', 'ask', 'path', 'error']);

/** What the next summary must find again where this one has written it by itself. */
const NOTED: ReadonlySet<FactKind> = new Set(['constraint', 'open-work', 'path']);

/**
 * Brings back what a summary has lost, as far as there is room, and accounts for every fact. A demand of the user counts
 * as kept where it has a line to itself: among other words it may mean anything.
 */
export function topUp(given: string, covered: Covered, options: TopUpOptions): ToppedUp {
  const summary = withoutHeading(given);
  const presence = lookUp(summary, covered);
  const missing = covered.facts.filter((fact) => !presence.isKept(fact));
  const room = createRoom(summary, options);
  const lines = takeInto(room, missing, lineTokens);
  const noted = takeInto(room, [...presence.above.keys()], placeTokens);
  const ledger: Ledger = {
    lines: missing.filter((fact) => lines.has(fact)),
    above: [...presence.above].flatMap(([fact, at]) => (noted.has(fact) ? [{ ...fact, at }] : [])),
  };
  const text = withLedger(summary, ledger);
  return { text, survival: accountFor(covered.facts, missing, standingIn(text, missing)) };
}

/**
 * Which of these facts a reader of the finished text finds. The account is made of this and not of what was meant to be
 * written: demands as the next summary will read them, names wherever they stand.
 */
function standingIn(text: string, facts: readonly Fact[]): ReadonlySet<Fact> {
  const read = new Set(
    readLedger(text).facts.flatMap((fact) => (fact.kind === 'constraint' ? [fact.text] : [])),
  );
  const others = facts.filter(({ kind }) => kind !== 'constraint');
  const named = createTextFinder(others.map(nameOf)).search(text);
  return new Set(
    facts.filter((fact) => (fact.kind === 'constraint' ? read.has(fact.text) : named.has(nameOf(fact)))),
  );
}

/** Shares of the room of a summary that are set aside for open work, and for the names of changed files. */
const OPEN_WORK_SHARE = 0.05;
const PATH_SHARE = 0.1;

/**
 * Tokens to set aside for what comes behind a summary of `maximumTokens`: the demands of the user, if the summarizer is
 * expected to drop them, or else the note of where it listed them; some open work, and the names of changed files.
 */
export function tokensAside(
  { facts, keptDemands }: Covered,
  { maximumTokens, countText }: TopUpOptions,
  { areDropped }: { readonly areDropped: boolean },
): number {
  const sumOf = (due: readonly Fact[]) => due.reduce((sum, fact) => sum + lineTokens(fact, countText), 0);
  const demands = facts.filter(({ kind, text }) => kind === 'constraint' && !keptDemands.has(text));
  const openWork = facts.filter(({ kind }) => kind === 'open-work');
  const paths = facts.filter(({ kind }) => kind === 'path');
  if (demands.length + openWork.length + paths.length === 0) return 0;
  const tokens =
    (areDropped ? sumOf(demands) : 0) +
    Math.min(sumOf(openWork), maximumTokens * OPEN_WORK_SHARE) +
    Math.min(sumOf(paths), maximumTokens * PATH_SHARE);
  const kinds = [demands, openWork, paths].filter(({ length }) => length > 0).length;
  return Math.ceil(headingTokens(countText, kinds) + tokens);
}

interface Presence {
  isKept(fact: Fact): boolean;
  /** Where facts stand in the summary itself. */
  readonly above: ReadonlyMap<Fact, number>;
}

function lookUp(summary: string, { facts, kept, keptDemands }: Covered): Presence {
  const demands = new Set(facts.flatMap(({ kind, text }) => (kind === 'constraint' ? [text] : [])));
  for (const demand of keptDemands) demands.delete(demand);
  const alone = standingAlone(summary, demands);

  const finder = createTextFinder(
    facts.flatMap((fact) => (fact.kind === 'constraint' ? [] : [nameOf(fact)])),
  );
  const inSummary = finder.search(summary);
  const texts = kept.flatMap(({ blocks }) => blocks.flatMap(readableTexts));
  const elsewhere = new Set(texts.flatMap((text) => [...finder.search(text).keys()]));

  const above = new Map<Fact, number>();
  for (const fact of facts) {
    const at = fact.kind === 'constraint' ? alone.get(fact.text) : inSummary.get(nameOf(fact));
    const start = at === undefined ? -1 : startOf(fact, at);
    if (NOTED.has(fact.kind) && start >= 0 && summary.startsWith(fact.text, start)) above.set(fact, start);
  }
  return {
    above,
    isKept: (fact) =>
      fact.kind === 'constraint'
        ? keptDemands.has(fact.text) || above.has(fact)
        : inSummary.has(nameOf(fact)) || elsewhere.has(nameOf(fact)),
  };
}

/** Where a fact begins whose name was found: that of a path is its end. */
function startOf(fact: Fact, at: number): number {
  return at - (fact.kind === 'path' ? fact.text.length - nameOf(fact).length : 0);
}

/** By what a fact is found again: a path by its last two parts, since roots are left out where they are known. */
function nameOf({ kind, text }: Fact): string {
  return kind === 'path' ? text.split(/[/\\]/).slice(-2).join('/') : text;
}

function readableTexts(block: Block): readonly string[] {
  return block.type === 'tool-call' ? argumentTexts(callArguments(block) ?? block.input) : [textOf(block)];
}

/** Tokens for what need not come back. */
interface Room {
  readonly countText: (text: string) => number;
  /** All that the summary has left. */
  whole: number;
  /** The part of it that is not for open work. */
  share: number;
}

function createRoom(summary: string, { maximumTokens, countText }: TopUpOptions): Room {
  const left = maximumTokens - countText(summary);
  const aroundTokens = headingTokens(countText);
  return { countText, whole: left - aroundTokens, share: left * LEDGER_SHARE - aroundTokens };
}

/** Facts that are due: demands all, of the others the newest of each kind for which there is room. */
function takeInto(room: Room, facts: readonly Fact[], tokensOf: typeof lineTokens): ReadonlySet<Fact> {
  const taken = new Set<Fact>();
  for (const kind of factKinds) {
    if (!RESTORED.has(kind)) continue;
    for (const fact of facts.filter((each) => each.kind === kind).toReversed()) {
      const tokens = tokensOf(fact, room.countText);
      const isSetAside = kind === 'open-work' || kind === 'path';
      const left = isSetAside ? room.whole : Math.min(room.whole, room.share);
      if (kind !== 'constraint' && tokens > left) continue;
      room.whole -= tokens;
      room.share -= tokens;
      taken.add(fact);
    }
  }
  return taken;
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
