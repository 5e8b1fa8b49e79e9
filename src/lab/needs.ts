import { type EntityKind, scanText } from '../core/entities.ts';
import type { Message, ToolCallBlock } from '../core/message.ts';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { wordsNear } from './binding.ts';
import { changedFilesOf } from './changed-files.ts';
import { constraintsOf } from './constraints.ts';
import { editTextsOf } from './edit-texts.ts';
import { argumentText, type SourcedText, type TextSource, textsOf } from './message-texts.ts';
import { createPatternFinder, type PatternFinder } from './pattern-finder.ts';
import type { Cut } from './trajectory.ts';

/** A name that a later tool call uses and that only the prefix could tell. */
export interface EntityNeed {
  readonly name: string;
  readonly kind: EntityKind;
  /** How many blocks of the prefix show it. A need is rare when there are at most two. */
  readonly blocks: number;
  /** What kind of text showed it last in the prefix. */
  readonly source: TextSource;
  /** Plain words that stood within 100 characters of it on a line of the prefix, in lower case. */
  readonly companions: ReadonlySet<string>;
  /** Whether the prefix itself binds it: two such words beside one mention. Others do not count for bound recall. */
  readonly isBound: boolean;
  /** Number of the block of the prefix that showed it last, counted as for `AnchorNeed`. */
  readonly sourceBlock: number;
  /** Index in the future of the message with the call that uses it first. */
  readonly usedAt: number;
  /** That call. */
  readonly usedBy: ToolCallBlock;
}

/** A line that a later edit has to quote exactly and that only the prefix shows. */
export interface AnchorNeed {
  readonly line: string;
  /**
   * Number of the block with text of the prefix that showed it last: one more reading of that brings back all its lines.
   */
  readonly sourceBlock: number;
  /** Size of that block, which is what a reading costs. */
  readonly sourceTokens: number;
  readonly usedAt: number;
  readonly usedBy: ToolCallBlock;
}

/** All that the future of a cut needs of its prefix, and what must never be lost whatever the future. */
export interface Needs {
  readonly entities: readonly EntityNeed[];
  readonly anchors: readonly AnchorNeed[];
  /** Sentences of the user's own in which something is demanded or forbidden. */
  readonly constraints: readonly string[];
  /** Files edited or written in the prefix, by the last two parts of their path. */
  readonly changedFiles: readonly string[];
}

/** So many plain words beside a name say what it was. */
export const BINDING_WORDS = 2;

/** A shorter line is no anchor: it stands anywhere. */
const ANCHOR_CHARACTERS = 20;

/** Tells the names that a call uses. */
export type NamesOf = (call: ToolCallBlock, take: (name: string, kind: EntityKind) => void) => void;

function namesInArguments(call: ToolCallBlock, take: (name: string, kind: EntityKind) => void): void {
  scanText(argumentText(call), { entity: take });
}

/** The first call of the future that uses something. */
interface FirstUse {
  readonly usedAt: number;
  readonly usedBy: ToolCallBlock;
  /** Number of its block in the future. */
  readonly place: number;
}

/** Names and lines that calls of the future use. */
interface Wanted {
  readonly entities: Map<string, FirstUse & { readonly kind: EntityKind }>;
  readonly lines: Map<string, FirstUse>;
}

/**
 * Finds what the future of a cut needs of its prefix. A name or line counts when a later call uses it, the prefix shows
 * it, and nothing that the user or a tool said after the cut showed it before that use. `generic` names, those that
 * unrelated projects share, count for nothing. `namesOf` says what counts as a name; default: what looks like one.
 */
export function findNeeds(
  cut: Cut,
  generic: ReadonlySet<string>,
  namesOf: NamesOf = namesInArguments,
): Needs {
  const wanted = collectWanted(cut.future, generic, namesOf);
  const names = [...wanted.entities.keys()];
  const lines = [...wanted.lines.keys()];
  const nameFinder = createPatternFinder(names, { wholeWords: true });
  const lineFinder = createPatternFinder(lines, { wholeWords: false });
  const shownNames = firstShown(cut.future, nameFinder, shownText);
  const shownLines = firstShown(cut.future, lineFinder, shownOrWrittenText);
  const prefix = cut.prefix.messages.flatMap(textsOf);
  const mentions = readMentions(prefix, nameFinder, names);
  const sources = readSources(prefix, lineFinder);

  const estimator = createTokenEstimator();
  const entities: EntityNeed[] = [];
  for (const [index, [name, { place, ...use }]] of [...wanted.entities].entries()) {
    const mention = mentions[index];
    if (mention === undefined || mention.blocks === 0 || (shownNames.get(index) ?? Infinity) < place)
      continue;
    entities.push({ name, ...use, ...mention });
  }
  const anchors: AnchorNeed[] = [];
  for (const [index, [line, { place, ...use }]] of [...wanted.lines].entries()) {
    const sourceBlock = sources.get(index);
    const source = sourceBlock === undefined ? undefined : prefix[sourceBlock];
    if (source === undefined || sourceBlock === undefined) continue;
    if ((shownLines.get(index) ?? Infinity) < place) continue;
    anchors.push({ line, ...use, sourceBlock, sourceTokens: Math.round(estimator.countBlock(source.block)) });
  }
  return {
    entities,
    anchors,
    constraints: constraintsOf(cut.prefix.messages, cut.openingSummary),
    changedFiles: changedFilesOf(cut.prefix.messages),
  };
}

function collectWanted(future: readonly Message[], generic: ReadonlySet<string>, namesOf: NamesOf): Wanted {
  const wanted: Wanted = { entities: new Map(), lines: new Map() };
  let place = 0;
  for (const [usedAt, { blocks }] of future.entries()) {
    for (const block of blocks) {
      place++;
      if (block.type !== 'tool-call') continue;
      namesOf(block, (name, kind) => {
        if (!wanted.entities.has(name) && !generic.has(name)) {
          wanted.entities.set(name, { kind, usedAt, usedBy: block, place });
        }
      });
      for (const line of anchorLines(block)) {
        if (!wanted.lines.has(line)) wanted.lines.set(line, { usedAt, usedBy: block, place });
      }
    }
  }
  return wanted;
}

function anchorLines(call: ToolCallBlock): readonly string[] {
  return editTextsOf(call)
    .oldLines.map((line) => line.trimEnd())
    .filter((line) => line.trimStart().length >= ANCHOR_CHARACTERS);
}

/** For each pattern the place of the first block of the future that shows it. */
function firstShown(
  future: readonly Message[],
  finder: PatternFinder,
  textToLookAt: (shown: SourcedText) => string,
): ReadonlyMap<number, number> {
  const first = new Map<number, number>();
  let place = 0;
  for (const message of future) {
    const texts = new Map(textsOf(message).map((text) => [text.block, text]));
    for (const block of message.blocks) {
      place++;
      const shown = texts.get(block);
      if (shown === undefined) continue;
      finder.find(textToLookAt(shown), (pattern) => {
        if (!first.has(pattern)) first.set(pattern, place);
      });
    }
  }
  return first;
}

function shownText({ source, text }: SourcedText): string {
  return source === 'user' || source === 'result' || source === 'system' ? text : '';
}

function shownOrWrittenText(shown: SourcedText): string {
  return shown.block.type === 'tool-call' ? editTextsOf(shown.block).newText : shownText(shown);
}

type Mention = Pick<EntityNeed, 'blocks' | 'source' | 'sourceBlock' | 'companions' | 'isBound'>;

function readMentions(
  prefix: readonly SourcedText[],
  finder: PatternFinder,
  names: readonly string[],
): readonly Mention[] {
  const mentions = names.map(() => ({
    blocks: 0,
    sourceBlock: -1,
    source: 'result' as TextSource,
    companions: new Set<string>(),
    isBound: false,
  }));
  for (const [block, { text, source }] of prefix.entries()) {
    const near = wordsNear(text);
    finder.find(text, (pattern, start) => {
      const mention = mentions[pattern];
      const name = names[pattern];
      if (mention === undefined || name === undefined) return;
      if (mention.sourceBlock !== block) mention.blocks++;
      mention.sourceBlock = block;
      mention.source = source;
      const words = near.around(start, start + name.length);
      if (words.size >= BINDING_WORDS) mention.isBound = true;
      for (const word of words) mention.companions.add(word);
    });
  }
  return mentions;
}

/** For each line the last block of the prefix that shows it. */
function readSources(prefix: readonly SourcedText[], finder: PatternFinder): ReadonlyMap<number, number> {
  const sources = new Map<number, number>();
  for (const [block, { text }] of prefix.entries()) {
    finder.find(text, (pattern) => sources.set(pattern, block));
  }
  return sources;
}
