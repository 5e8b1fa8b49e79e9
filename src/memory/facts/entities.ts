/** Stretches of code units beyond ASCII that are no letters: spaces, punctuation, arrows, boxes, symbols. */
const BETWEEN_WORDS: readonly (readonly [from: number, to: number])[] = [
  [0x80, 0xa9],
  [0xab, 0xb4],
  [0xb6, 0xb9],
  [0xbb, 0xbf],
  [0x2000, 0x206f],
  [0x2190, 0x2bff],
  [0x3000, 0x3004],
  [0x3008, 0x3020],
  [0xd83c, 0xd83e],
  [0xe000, 0xf8ff],
  [0xfe00, 0xfe6f],
  [0xff01, 0xff0f],
  [0xff1a, 0xff20],
];

const isWord = new Uint8Array(0x10000).fill(1, 0x80);
for (const [from, to] of BETWEEN_WORDS) isWord.fill(0, from, to + 1);
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') {
  isWord[letter.charCodeAt(0)] = 1;
}
// The second half of a pair belongs to the first one; alone it is taken for a letter, which does no harm.

/** Whether the code unit is part of a word: a letter or digit of any script, or an underscore. */
export function isWordCode(code: number): boolean {
  return isWord[code] === 1;
}

/** Whether a word ends before this index, or begins at it, or both: no word runs across. */
export function isWordBorder(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return true;
  return !(isWordCode(text.charCodeAt(index - 1)) && isWordCode(text.charCodeAt(index)));
}

/** Endings by which a name with a dot is taken for a file and not for a member of something. */
const fileExtensions: ReadonlySet<string> = new Set(
  (
    'ts tsx mts cts js jsx mjs cjs json jsonl json5 yaml yml toml ini cfg conf env lock md mdx rst txt log csv tsv ' +
    'py pyi pyc ipynb rb rs go mod sum java kt kts scala groovy gradle c h cc cpp cxx hpp hh cs fs vb swift m mm php ' +
    'pl pm lua r jl ex exs erl hs ml clj cljs dart zig nim v sol sh bash zsh fish ps1 bat cmd sql graphql gql proto ' +
    'html htm xhtml xml xsl svg css scss sass less vue svelte astro hbs ejs njk tpl tmpl j2 po pot mo ' +
    'png jpg jpeg gif webp ico pdf doc docx xls xlsx ppt pptx odt zip gz tgz tar bz2 xz 7z jar war whl wasm so dll exe ' +
    'db sqlite sqlite3 patch diff map snap golden pem crt key pub cast tape plist service dockerfile mk cmake tf tfvars'
  ).split(' '),
);

/**
 * What a name looks like. `code`: letters and digits together, such as a hash or a booking number. The last three are
 * known by the shape of a whole argument and not found in running text.
 */
export type EntityKind =
  | 'url'
  | 'path'
  | 'file'
  | 'snake'
  | 'camel'
  | 'pascal'
  | 'caps'
  | 'code'
  | 'number'
  | 'date'
  | 'amount'
  | 'proper-name';

/** Takes what is found in a text, in order. Places are those of the name itself. */
export interface TextSink {
  entity?(name: string, kind: EntityKind, start: number): void;
  /** A word of the language: letters only, and no part of a name. */
  word?(word: string, start: number): void;
}

/** The distinct names in a text, in the order in which they first occur. */
export function entitiesIn(text: string): readonly string[] {
  const names = new Set<string>();
  scanText(text, { entity: (name) => names.add(name) });
  return [...names];
}

/** Longer runs without a space are data (base64, minified code), not names. */
const MAXIMUM_RUN = 300;

/**
 * Finds every name and every plain word of a text in one pass: web addresses, paths (by their last two parts), file
 * names, snake, camel, Pascal and capital identifiers, codes of letters and digits, and numbers of four digits or more.
 */
export function scanText(text: string, sink: TextSink): void {
  for (let start = 0; start < text.length; ) {
    if (!isRunCode(text.charCodeAt(start))) {
      start++;
      continue;
    }
    let end = start;
    let hasJoint = false;
    for (let code = text.charCodeAt(end); isRunCode(code); code = text.charCodeAt(++end)) {
      hasJoint ||= isJoint[code] === 1;
    }
    if (text.startsWith('://', end)) end = scanUrl(text, start, end, sink);
    else if (end - start <= MAXIMUM_RUN) {
      const run = text.slice(start, end);
      if (hasJoint) scanRun(run, start, sink);
      else scanIdentifier(run, start, sink);
    }
    start = end;
  }
}

/** Signs that stand inside of paths, file names and codes. */
const JOINTS = './-~@+';
const isJoint = new Uint8Array(0x80);
for (const sign of JOINTS) isJoint[sign.charCodeAt(0)] = 1;

function isRunCode(code: number): boolean {
  return isWordCode(code) || isJoint[code] === 1;
}

const URL_ENDS = new Set([...' \t\r\n"\'`<>()[]{}|\\^,;*'].map((sign) => sign.charCodeAt(0)));

function scanUrl(text: string, start: number, schemeEnd: number, sink: TextSink): number {
  let end = schemeEnd;
  while (end < text.length && !URL_ENDS.has(text.charCodeAt(end))) end++;
  const url = trimEnd(text.slice(start, end), '.:/?!#&=');
  if (url.length > schemeEnd - start + 3 && url.length <= MAXIMUM_RUN) sink.entity?.(url, 'url', start);
  return end;
}

function trimEnd(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function scanRun(run: string, start: number, sink: TextSink): void {
  if (run.includes('/') && scanPath(run, start, sink)) return;
  forEachPart(run, '/~@+', (part, at) => {
    const name = trimEnd(part, '.-');
    if (isFileName(name)) sink.entity?.(name, 'file', start + at);
    else forEachPart(name, '.', (piece, inner) => scanPiece(piece, start + at + inner, sink));
  });
}

/** A path is named by its last two parts. Gives false for what only looks like one: `1/2`, `a/`. */
function scanPath(run: string, start: number, sink: TextSink): boolean {
  const end = trimEnd(run, '/.-+~@').length;
  const last = run.lastIndexOf('/', end - 1);
  if (last <= 0) return false;
  const before = run.lastIndexOf('/', last - 1) + 1;
  const parts = [run.slice(before, last), run.slice(last + 1, end)];
  if (!parts.every((part) => part.length > 1 && hasLetter(part))) return false;
  const shift = leadingSigns(run.slice(before, end));
  sink.entity?.(run.slice(before + shift, end), 'path', start + before + shift);
  return true;
}

function leadingSigns(text: string): number {
  let index = 0;
  while (index < text.length && '-+~'.includes(text.charAt(index))) index++;
  return index;
}

function hasLetter(text: string): boolean {
  return /[^\W\d_]|[^\0-\x7f]/.test(text);
}

function forEachPart(text: string, signs: string, take: (part: string, at: number) => void): void {
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    if (index < text.length && !signs.includes(text.charAt(index))) continue;
    if (index > start) take(text.slice(start, index), start);
    start = index + 1;
  }
}

function isFileName(name: string): boolean {
  const dot = name.lastIndexOf('.');
  return dot > 0 && fileExtensions.has(name.slice(dot + 1)) && hasLetter(name.slice(0, dot));
}

/** A code with hyphens is one name (`019d7e48-ba4b`); other hyphens part words. */
function scanPiece(piece: string, start: number, sink: TextSink): void {
  const shift = leadingSigns(piece);
  const code = trimEnd(piece.slice(shift), '-');
  if (code.includes('-') && /\d/.test(code) && hasLetter(code)) {
    sink.entity?.(code, 'code', start + shift);
    return;
  }
  forEachPart(piece, '-', (part, at) => scanIdentifier(part, start + at, sink));
}

function scanIdentifier(text: string, start: number, sink: TextSink): void {
  const kind = kindOfIdentifier(text);
  if (kind === 'word') sink.word?.(text, start);
  else if (kind !== undefined) sink.entity?.(text, kind, start);
}

/** In scripts that write every sound. Where a sign is a word, one is enough. */
const SHORTEST_WORD = 3;

/** The kind of a run of letters, digits and underscores; undefined for what is neither a name nor a word. */
export function kindOfIdentifier(text: string): EntityKind | 'word' | undefined {
  if (/^[a-z]+$/.test(text)) return text.length >= SHORTEST_WORD ? 'word' : undefined;
  const inner = text.replace(/^_{1,9}/, '').replace(/_{1,9}$/, '');
  if (/^\d*$/.test(inner)) return inner.length >= SHORTEST_CODE ? 'number' : undefined;
  const isCapital = inner === inner.toUpperCase() && inner !== inner.toLowerCase();
  if (inner.includes('_')) return isCapital ? 'caps' : 'snake';
  if (/\p{Ll}\p{Lu}/u.test(inner)) return /^\p{Lu}/u.test(inner) ? 'pascal' : 'camel';
  if (/^\p{Lu}{2,20}\p{Ll}{2}/u.test(inner)) return 'pascal';
  if (isCapital || /\d/.test(inner)) return kindOfCode(inner);
  return inner.length >= SHORTEST_WORD || /[^\0-\u024f]/.test(inner) ? 'word' : undefined;
}

/** Shorter ones stand for too many things. */
const SHORTEST_CODE = 4;

function kindOfCode(text: string): EntityKind | undefined {
  if (text.length < SHORTEST_CODE) return undefined;
  return /\d/.test(text) ? 'code' : 'caps';
}
