import type { EntityKind } from '../core/entities.ts';
import type { Message } from '../core/message.ts';
import { wordsNear } from './binding.ts';
import { type TextSource, textsOf } from './message-texts.ts';
import { type AnchorNeed, BINDING_WORDS, type EntityNeed, type Needs } from './needs.ts';
import { createPatternFinder, type PatternFinder } from './pattern-finder.ts';

/** A need that no more blocks than this showed is rare. */
const RARE_BLOCKS = 2;

/** How much of something is left. */
export interface Share {
  readonly kept: number;
  readonly of: number;
}

/** What is left of everything that the future needs. */
export interface PanelScore {
  /** Names of later calls that are still there, as whole words. */
  readonly futureReference: Share;
  /** Those of them that at most two blocks of the prefix showed. */
  readonly rareReference: Share;
  /** Names that still stand on a line with two plain words that stood with them before. */
  readonly bound: Share;
  /** Lines of later edits' old text that are still there, verbatim. */
  readonly editAnchors: Share;
  /** Demands of the user's that are still there, verbatim. */
  readonly constraints: Share;
  /** Changed files that are still named. */
  readonly changedFiles: Share;
  /** Tokens to read again: the sources of the missing lines, each once. */
  readonly rereadTokens: number;
  readonly byKind: Readonly<Partial<Record<EntityKind, Share>>>;
  readonly bySource: Readonly<Partial<Record<TextSource, Share>>>;
  /** Names that are still there, or whose last source can be fetched by a handle that is there. */
  readonly retrievableReference: Share;
  /** The same for lines of later edits. */
  readonly retrievableAnchors: Share;
  readonly missed: Missed;
}

/** What is not there any more. */
export interface Missed {
  readonly entities: readonly EntityNeed[];
  readonly anchors: readonly AnchorNeed[];
  readonly constraints: readonly string[];
}

/** Tells whether a block of the prefix can be fetched again, by its number among those with text. */
export type IsRetrievable = (sourceBlock: number) => boolean;

const nothingIs: IsRetrievable = () => false;

/** Finders for the needs of one cut, which serve every output that is scored for it. */
interface Finders {
  readonly names: PatternFinder;
  readonly lines: PatternFinder;
}

const prepared = new WeakMap<Needs, Finders>();

function findersOf(needs: Needs): Finders {
  const known = prepared.get(needs);
  if (known !== undefined) return known;
  const names = [...needs.entities.map(({ name }) => name), ...needs.changedFiles];
  const lines = [...needs.anchors.map(({ line }) => line), ...needs.constraints];
  const finders = {
    names: createPatternFinder(names, { wholeWords: true }),
    lines: createPatternFinder(lines, { wholeWords: false }),
  };
  prepared.set(needs, finders);
  return finders;
}

/**
 * Scores what stands in the place of a prefix by what the future of the cut needed. `isRetrievable` says what can be
 * fetched back; by default nothing can.
 */
export function scoreMessages(
  needs: Needs,
  output: readonly Message[],
  isRetrievable: IsRetrievable = nothingIs,
): PanelScore {
  const texts = output.flatMap(textsOf).map(({ text }) => text);
  return scoreTexts(needs, texts, isRetrievable);
}

/** The same for texts, where there are no messages. */
export function scoreTexts(
  needs: Needs,
  texts: readonly string[],
  isRetrievable: IsRetrievable = nothingIs,
): PanelScore {
  const { entities, anchors, constraints, changedFiles } = needs;
  const { names, bound, lines } = findMet(needs, texts);
  const kept = entities.map((_, index) => names.has(index));
  const isLineKept = (index: number) => lines.has(index);
  return {
    futureReference: shareOf(kept),
    rareReference: shareOf(kept.filter((_, index) => (entities[index]?.blocks ?? 0) <= RARE_BLOCKS)),
    bound: shareOf(entities.flatMap(({ isBound }, index) => (isBound ? [bound.has(index)] : []))),
    editAnchors: shareOf(anchors.map((_, index) => isLineKept(index))),
    constraints: shareOf(constraints.map((_, index) => isLineKept(anchors.length + index))),
    changedFiles: shareOf(changedFiles.map((_, index) => names.has(entities.length + index))),
    rereadTokens: rereadTokens(needs, isLineKept),
    byKind: groupShares(entities, kept, ({ kind }) => kind),
    bySource: groupShares(entities, kept, ({ source }) => source),
    retrievableReference: shareOf(
      entities.map(({ sourceBlock }, index) => kept[index] === true || isRetrievable(sourceBlock)),
    ),
    retrievableAnchors: shareOf(
      anchors.map(({ sourceBlock }, index) => isLineKept(index) || isRetrievable(sourceBlock)),
    ),
    missed: {
      entities: entities.filter((_, index) => kept[index] !== true),
      anchors: anchors.filter((_, index) => !isLineKept(index)),
      constraints: constraints.filter((_, index) => !isLineKept(anchors.length + index)),
    },
  };
}

/** Numbers of the goals that a text meets: names first, then bound names, then anchors, each in the order of the needs. */
export function needsMetBy(needs: Needs, text: string): readonly number[] {
  const { names, bound, lines } = findMet(needs, [text]);
  const { length } = needs.entities;
  return [
    ...[...names].filter((name) => name < length),
    ...[...bound].map((name) => length + name),
    ...[...lines].filter((line) => line < needs.anchors.length).map((line) => 2 * length + line),
  ];
}

/** Needs that are met, by number: changed files stand behind the names, constraints behind the anchors. */
interface Met {
  readonly names: ReadonlySet<number>;
  readonly bound: ReadonlySet<number>;
  readonly lines: ReadonlySet<number>;
}

function findMet(needs: Needs, texts: readonly string[]): Met {
  const finders = findersOf(needs);
  const names = new Set<number>();
  const bound = new Set<number>();
  const lines = new Set<number>();
  for (const text of texts) {
    const near = wordsNear(text);
    finders.names.find(text, (pattern, start) => {
      names.add(pattern);
      const need = needs.entities[pattern];
      if (need === undefined || bound.has(pattern)) return;
      if (isBoundBy(need, near.around(start, start + need.name.length))) bound.add(pattern);
    });
    finders.lines.find(text, (pattern) => lines.add(pattern));
  }
  return { names, bound, lines };
}

function isBoundBy({ companions }: EntityNeed, words: ReadonlySet<string>): boolean {
  let shared = 0;
  for (const word of words) {
    if (companions.has(word) && ++shared >= BINDING_WORDS) return true;
  }
  return false;
}

function shareOf(kept: readonly boolean[]): Share {
  return { kept: kept.filter((isKept) => isKept).length, of: kept.length };
}

function rereadTokens({ anchors }: Needs, isKept: (index: number) => boolean): number {
  const sources = new Map<number, number>();
  for (const [index, { sourceBlock, sourceTokens }] of anchors.entries()) {
    if (!isKept(index)) sources.set(sourceBlock, sourceTokens);
  }
  return [...sources.values()].reduce((sum, tokens) => sum + tokens, 0);
}

function groupShares<Key extends string>(
  entities: readonly EntityNeed[],
  kept: readonly boolean[],
  keyOf: (need: EntityNeed) => Key,
): Readonly<Partial<Record<Key, Share>>> {
  const groups = new Map<Key, { kept: number; of: number }>();
  for (const [index, need] of entities.entries()) {
    const group = groups.get(keyOf(need)) ?? { kept: 0, of: 0 };
    group.of++;
    if (kept[index] === true) group.kept++;
    groups.set(keyOf(need), group);
  }
  return Object.fromEntries(groups) as Partial<Record<Key, Share>>; // its keys are those that were asked for
}
