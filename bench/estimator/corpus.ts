import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { looksHeldOut } from './held-out.ts';
import { readPlain } from './readers.ts';
import { createRandom, type Half, halfOf, hashText, integer } from './seeded.ts';
import { fittedSources, projectFolder, type Source, unseenCommands, unseenSources } from './sources.ts';
import { generate, generators } from './synthetic.ts';
import { readTranscriptTexts } from './transcripts.ts';
import { type FoundFile, listFiles } from './walk.ts';

/** A piece of text of one kind. */
export interface Piece {
  readonly kind: string;
  readonly text: string;
}

/** What was found of one kind, in one half. */
export interface Found {
  readonly kind: string;
  readonly files: number;
  readonly pieces: number;
  readonly sizeChars: number;
}

/** A part of the corpus, and an account of it. */
export interface Collection {
  readonly pieces: readonly Piece[];
  readonly found: readonly Found[];
  /** Kinds of which this machine has nothing. */
  readonly missing: readonly string[];
}

interface NamedText {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
}

const fileLimitBytes = 3_000_000;
const fileTakeChars = 40_000;
const generatedTexts = 120;
const agentKind = 'agent conversations';

/** Pieces of 0.4 to 20 kB of the kinds that are fitted, from one half of the files. */
export function collectFitted(half: Half, kindLimitChars: number): Collection {
  const kinds = [
    ...new Set([...fittedSources.map((source) => source.kind), ...Object.keys(generators), agentKind]),
  ];
  const texts = kinds.flatMap((kind) =>
    takeUpTo(kindLimitChars, [
      ...sourcesOf(fittedSources, kind, half),
      generatedOf(kind, half),
      kind === agentKind ? agentTexts(half) : [],
    ]),
  );
  return account(kinds, texts, (ofKind) => ofKind.flatMap(cutAtRandom));
}

/** Pieces of 4,000 characters of the kinds that are never fitted. */
export function collectUnseen(kindLimitChars: number): Collection {
  const kinds = [...new Set([...unseenSources.map((source) => source.kind), ...Object.keys(unseenCommands)])];
  const texts = kinds.flatMap((kind) =>
    takeUpTo(kindLimitChars, [
      ...sourcesOf(unseenSources, kind, undefined),
      printedBy(unseenCommands[kind] ?? [], kind),
    ]),
  );
  return account(kinds, texts, (ofKind) => cutEvery(ofKind.map(({ text }) => text).join('\n'), 4000));
}

function account(
  kinds: readonly string[],
  texts: readonly NamedText[],
  cut: (ofKind: readonly NamedText[]) => readonly string[],
): Collection {
  const pieces: Piece[] = [];
  const found: Found[] = [];
  for (const kind of kinds) {
    const ofKind = texts.filter((text) => text.kind === kind);
    const cuts = cut(ofKind);
    if (cuts.length === 0) continue;
    pieces.push(...cuts.map((text) => ({ kind, text })));
    const sizeChars = cuts.reduce((sum, text) => sum + text.length, 0);
    found.push({ kind, files: ofKind.length, pieces: cuts.length, sizeChars });
  }
  const present = new Set(found.map((row) => row.kind));
  return { pieces, found, missing: kinds.filter((kind) => !present.has(kind)) };
}

function sourcesOf(
  sources: readonly Source[],
  kind: string,
  half: Half | undefined,
): readonly Iterable<NamedText>[] {
  const seen = new Set<number>();
  return sources.filter((source) => source.kind === kind).map((source) => readSource(source, half, seen));
}

function* readSource(source: Source, half: Half | undefined, seen: Set<number>): Generator<NamedText> {
  const read = source.read ?? readPlain;
  for (const file of shuffledFiles(source)) {
    if (half !== undefined && halfOf(file.path) !== half) continue;
    const text = readOrSkip(file, read)?.slice(0, fileTakeChars);
    if (text === undefined || text.length < 400 || (half !== undefined && looksHeldOut(text))) continue;
    const fingerprint = hashText(text);
    if (seen.has(fingerprint)) continue;
    seen.add(fingerprint);
    yield { kind: source.kind, name: file.path, text };
  }
}

function shuffledFiles(source: Source): readonly FoundFile[] {
  return source.roots
    .flatMap((root) => listFiles(root, source.path))
    .filter((file) => source.skip?.test(file.path) !== true)
    .map((file) => ({ file, order: hashText(`order ${file.path}`) }))
    .sort((left, right) => left.order - right.order)
    .map(({ file }) => file);
}

function readOrSkip(file: FoundFile, read: (bytes: Uint8Array) => string | undefined): string | undefined {
  try {
    return statSync(file.absolute).size > fileLimitBytes ? undefined : read(readFileSync(file.absolute));
  } catch {
    // Unreadable files and broken archives are not text.
    return undefined;
  }
}

function* generatedOf(kind: string, half: Half): Generator<NamedText> {
  if (!Object.hasOwn(generators, kind)) return;
  const names = pathNames(half);
  for (let index = 0; index < generatedTexts; index++) {
    const name = `${kind} ${half} ${index}`;
    yield { kind, name, text: generate(kind, hashText(name), names) };
  }
}

function pathNames(half: Half): readonly string[] {
  const paths = listFiles(`${projectFolder}/node_modules`, /^\/[^@.][^ ]{3,70}$/).map((file) =>
    file.path.slice(1),
  );
  return paths.filter((path) => halfOf(path) === half).slice(0, 4000);
}

function* agentTexts(half: Half): Generator<NamedText> {
  const texts = readTranscriptTexts(400)
    .filter(({ file }) => halfOf(file) === half)
    .map((text) => ({ ...text, order: hashText(text.text) }))
    .sort((left, right) => left.order - right.order);
  for (const { file, text } of texts)
    yield { kind: agentKind, name: file, text: text.slice(0, fileTakeChars) };
}

function* printedBy(
  commands: readonly (readonly [string, ...string[]])[],
  kind: string,
): Generator<NamedText> {
  for (const [program, ...parameters] of commands) {
    const text = outputOf(program, parameters);
    if (text !== undefined) yield { kind, name: [program, ...parameters].join(' '), text };
  }
}

function outputOf(program: string, parameters: readonly string[]): string | undefined {
  if (program === 'ls' && !existsSync(parameters.at(-1) ?? '')) return undefined;
  // npm keeps few logs, and those are a kind of ours: its own run must not push them out.
  const logs = { npm_config_logs_dir: join(tmpdir(), 'roundfold-npm-logs') };
  const { stdout } = spawnSync(program, parameters, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8', ...logs },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return stdout === '' || stdout === null ? undefined : stdout;
}

/** Sources take turns, so that a kind with several is not made of the first one alone. */
function takeUpTo(limitChars: number, sources: readonly Iterable<NamedText>[]): readonly NamedText[] {
  const taken: NamedText[] = [];
  const queues = sources.map((source) => source[Symbol.iterator]());
  let sizeChars = 0;
  while (queues.length > 0 && sizeChars < limitChars) {
    for (const queue of [...queues]) {
      const { value, done } = queue.next();
      if (done === true) {
        queues.splice(queues.indexOf(queue), 1);
      } else {
        taken.push(value);
        sizeChars += value.text.length;
      }
    }
  }
  return taken;
}

function cutAtRandom({ name, text }: NamedText): readonly string[] {
  const random = createRandom(hashText(name));
  const cuts: string[] = [];
  for (let start = 0; text.length - start >= 400; ) {
    // Squared: short pieces are as common as long ones by size in real conversations.
    const end = start + integer(random, 400, 400 + Math.floor(19_600 * random() ** 2));
    cuts.push(wholeCharacters(text, start, end));
    start = end;
  }
  return cuts;
}

function cutEvery(text: string, sizeChars: number): readonly string[] {
  const cuts: string[] = [];
  for (let start = 0; start + sizeChars <= text.length; start += sizeChars) {
    cuts.push(wholeCharacters(text, start, start + sizeChars));
  }
  return cuts;
}

/** A slice that is a string of its own (not a view of its parent) and has no half of a surrogate pair. */
function wholeCharacters(text: string, start: number, end: number): string {
  return Buffer.from(text.slice(start, end).toWellFormed().replaceAll('�', '')).toString();
}
