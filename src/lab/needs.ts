/** Finds what the recorded future of a session took from its past: names, lines of edits, demands, files. */

import { callArguments, type Message, type ToolCallBlock } from '../conversation/message.ts';
import { type EntityKind, scanText } from '../memory/facts/entities.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { changedFilesOf, editTextsOf } from './calls.ts';
import { demandsOf } from './demands.ts';
import { type Mention, readMentions } from './mentions.ts';
import { createPatternFinder, type PatternFinder } from './pattern-finder.ts';
import { argumentText, LINE_CHARACTERS, type SourcedText, type TextSource, textsOf } from './texts.ts';
import type { Cut } from './trajectory.ts';

/** A name that a later tool call uses and that only the prefix could tell. */
export interface NameNeed extends Mention {
  readonly name: string;
  readonly kind: EntityKind;
  /** Index in the future of the message with the call that uses it first. */
  readonly usedAt: number;
  /** That call. */
  readonly usedBy: ToolCallBlock;
}

/** A line that a later edit has to quote exactly and that only the prefix shows. */
export interface LineNeed {
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
  readonly names: readonly NameNeed[];
  readonly editLines: readonly LineNeed[];
  /** Sentences of the user's own in which something is demanded or forbidden. */
  readonly demands: readonly string[];
  /** Files edited or written in the prefix, by the last two parts of their path. */
  readonly changedFiles: readonly string[];
}

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
  readonly names: Map<string, FirstUse & { readonly kind: EntityKind }>;
  readonly lines: Map<string, FirstUse>;
}

/**
 * Finds what the future of a cut needs of its prefix. A name or line counts when a later call uses it, the prefix shows
 * it, and nothing that the user or a tool said after the cut showed it before that use. `generic` names, those that any
 * project has, count for nothing. `namesOf` says what counts as a name; default: what looks like one.
 */
export function findNeeds(
  cut: Cut,
  generic: ReadonlySet<string>,
  namesOf: NamesOf = namesInArguments,
): Needs {
  const wanted = collectWanted(cut.future, generic, namesOf);
  const prefix = cut.prefix.messages.flatMap(textsOf);
  return {
    names: neededNames(wanted.names, prefix, cut.future),
    editLines: neededLines(wanted.lines, prefix, cut.future),
    demands: demandsOf(cut.prefix.messages, cut.openingSummary),
    changedFiles: changedFilesOf(cut.prefix.messages),
  };
}

function neededNames(
  wanted: Wanted['names'],
  prefix: readonly SourcedText[],
  future: readonly Message[],
): readonly NameNeed[] {
  const finder = createPatternFinder([...wanted.keys()], { wholeWords: true });
  const shown = firstShown(future, finder, shownText);
  const mentions = readMentions(prefix, finder, [...wanted.keys()]);
  return [...wanted].flatMap(([name, { place, ...use }], index) => {
    const mention = mentions[index];
    const isShownAgain = (shown.get(index) ?? Infinity) < place;
    return mention === undefined || isShownAgain ? [] : [{ name, ...use, ...mention }];
  });
}

function neededLines(
  wanted: Wanted['lines'],
  prefix: readonly SourcedText[],
  future: readonly Message[],
): readonly LineNeed[] {
  const finder = createPatternFinder([...wanted.keys()], { wholeWords: false });
  const shown = firstShown(future, finder, shownOrWrittenText);
  const sources = readSources(prefix, finder);
  const estimator = createTokenEstimator();
  return [...wanted].flatMap(([line, { place, ...use }], index) => {
    const sourceBlock = sources.get(index);
    const source = sourceBlock === undefined ? undefined : prefix[sourceBlock];
    const isShownAgain = (shown.get(index) ?? Infinity) < place;
    if (source === undefined || sourceBlock === undefined || isShownAgain) return [];
    const sourceTokens = Math.round(estimator.countBlock(source.block));
    return [{ line, ...use, sourceBlock, sourceTokens }];
  });
}

function collectWanted(future: readonly Message[], generic: ReadonlySet<string>, namesOf: NamesOf): Wanted {
  const wanted: Wanted = { names: new Map(), lines: new Map() };
  let place = 0;
  for (const [usedAt, { blocks }] of future.entries()) {
    for (const block of blocks) {
      place++;
      if (block.type !== 'tool-call') continue;
      const use = { usedAt, usedBy: block, place };
      namesOf(block, (name, kind) => {
        if (!wanted.names.has(name) && !generic.has(name)) wanted.names.set(name, { kind, ...use });
      });
      for (const line of quotedLines(block)) if (!wanted.lines.has(line)) wanted.lines.set(line, use);
    }
  }
  return wanted;
}

function quotedLines(call: ToolCallBlock): readonly string[] {
  return editTextsOf(call)
    .oldLines.map((line) => line.trimEnd())
    .filter((line) => line.trimStart().length >= LINE_CHARACTERS);
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

/** For each line the last block of the prefix that shows it. */
function readSources(prefix: readonly SourcedText[], finder: PatternFinder): ReadonlyMap<number, number> {
  const sources = new Map<number, number>();
  for (const [block, { text }] of prefix.entries()) {
    finder.find(text, (pattern) => sources.set(pattern, block));
  }
  return sources;
}

/**
 * What the future of a service dialogue needs: whole values of later calls (ids, names, dates, amounts) that the user
 * named or a tool returned in the prefix. Values that instructions spell out are no memory and are left out.
 */
export function findValueNeeds(cut: Cut): Needs {
  const needs = findNeeds(cut, new Set(), valuesOf);
  const names = needs.names.map(({ name }) => name);
  const { messages } = cut.prefix;
  const told = foundIn(messages, names, new Set(['user', 'result']));
  const instructed = foundIn(messages, names, new Set(['system']));
  return {
    ...needs,
    names: needs.names.filter((_, index) => told.has(index) && !instructed.has(index)),
  };
}

function foundIn(
  messages: readonly Message[],
  names: readonly string[],
  sources: ReadonlySet<TextSource>,
): ReadonlySet<number> {
  const found = new Set<number>();
  const finder = createPatternFinder(names, { wholeWords: true });
  for (const { source, text } of messages.flatMap(textsOf)) {
    if (sources.has(source)) finder.find(text, (name) => found.add(name));
  }
  return found;
}

/** A longer argument is free text, of which only the names in it count. */
const LONGEST_VALUE = 60;
const MOST_WORDS = 5;
const MAXIMUM_DEPTH = 12;

/** The values of a call's arguments that identify something, each whole. */
function valuesOf(call: ToolCallBlock, take: (name: string, kind: EntityKind) => void): void {
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'number') takeNumber(value, take);
    else if (typeof value === 'string') takeText(value.trim(), take);
    else if (typeof value === 'object' && value !== null && depth < MAXIMUM_DEPTH) {
      for (const inner of Object.values(value)) visit(inner, depth + 1);
    }
  };
  visit(callArguments(call), 0);
}

/** Small numbers are counts, which stand everywhere. */
const SMALLEST_AMOUNT = 10;

function takeNumber(value: number, take: (name: string, kind: EntityKind) => void): void {
  if (Math.abs(value) >= SMALLEST_AMOUNT) take(String(Math.abs(value)), 'amount');
}

function takeText(text: string, take: (name: string, kind: EntityKind) => void): void {
  if (text.length > LONGEST_VALUE || text.split(' ').length > MOST_WORDS) scanText(text, { entity: take });
  else if (/^\d{4}-\d{2}-\d{2}$/.test(text)) take(text, 'date');
  else if (/^-?\d+(?:\.\d+)?$/.test(text)) takeNumber(Number(text), take);
  else if (/\d/.test(text)) take(text, 'code');
  else if (/^\p{Lu}/u.test(text) && text.length > 1) take(text, 'proper-name');
}

/** Names that belong to no project: whoever needs one knows it anyway. */
const WORDS = `
  dev/null origin/main origin/master usr/bin usr/local bin/bash bin/sh HEAD~1
  package.json package-lock.json tsconfig.json node_modules README README.md LICENSE CHANGELOG.md CONTRIBUTING.md
  SECURITY.md Makefile Dockerfile Cargo.toml go.mod go.sum pyproject.toml requirements.txt setup.py index.ts index.js
  main.go main.py __init__.py .gitignore .env CLAUDE.md AGENTS.md
  application/json text/plain text/html utf-8 UTF-8 localhost 127.0.0.1 0.0.0.0
  JSON YAML TOML HTML HTTP HTTPS POST PATCH DELETE NULL TRUE FALSE TODO FIXME NOTE WARNING ERROR INFO DEBUG
  MUST NEVER ALWAYS ONLY IMPORTANT SELECT FROM WHERE EOF PATH HOME
  TypeScript JavaScript GitHub GitLab Node.js macOS python3 toString
`;

const ROUND_NUMBERS = [1000, 1024, 1200, 1500, 2000, 2048, 3000, 4000, 4096, 5000, 8000, 8080, 8192, 10_000];
const YEARS = Array.from({ length: 20 }, (_, year) => 2015 + year);

/** What counts for nothing where nothing is known about the projects that sessions work on. */
export const commonNames: ReadonlySet<string> = new Set([
  ...WORDS.split(/\s+/).filter((word) => word !== ''),
  ...[...ROUND_NUMBERS, ...YEARS].map(String),
]);
