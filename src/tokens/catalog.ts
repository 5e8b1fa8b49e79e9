import { RoundfoldError } from '../conversation/errors.ts';
import { catalog } from './catalog-data.ts';
import type { ModelInfo } from './model-info.ts';

/** How a name is looked up. */
export interface ModelOptions {
  /** Rows that go before the catalog's, found by the same rules. */
  readonly overrides?: readonly ModelInfo[] | undefined;
  /** Day for which prices are wanted, `2026-12-24`. Default: the prices as of the row's own date. */
  readonly on?: string | undefined;
}

/**
 * Window of an unknown model. Too small costs an early compaction, too large a failed request, so this is the
 * smallest window among current models of the large providers.
 */
export const defaultWindowTokens = 128_000;

// No real name comes near it; a longer one is not searched for borders.
const longestName = 300;

/**
 * The model that a name means, or undefined when it is not known. Case, paths (`openrouter/anthropic/…`), cloud
 * prefixes (`us.anthropic.…-v1:0`), dates, `-latest`, `:free` and the like do not matter. `[1m]`, `[200k]` and `-128k`
 * set the window. An unknown variant of a known model (`gpt-4o-audio`) keeps the window and loses the prices; a
 * smaller sibling or another version without a row of its own is unknown.
 * @throws RoundfoldError `usage` when `on` is no date
 */
export function findModel(name: string, options: ModelOptions = {}): ModelInfo | undefined {
  const day = options.on === undefined ? undefined : parseDay(options.on);
  const found = lookUp(name, indexOf(options.overrides ?? [])) ?? lookUp(name, catalogIndex);
  if (found === undefined) return undefined;
  const change =
    day === undefined ? undefined : found.model.priceChanges?.findLast(({ from }) => from <= day);
  const model = change === undefined ? found.model : { ...found.model, prices: change.prices };
  return adaptToVariant(model, found.rest);
}

/**
 * The window of a model in tokens, prompt and output together. A name may be a bare window (`200000`, `128k`, `1m`).
 * An unknown model has the window that its name states (`my-model-32k`), else `defaultWindowTokens`. A server that you
 * run yourself has the window it was started with: pass that one.
 * @throws RoundfoldError `usage` when `on` is no date
 */
export function contextWindowForModel(name: string, options: ModelOptions = {}): number {
  return knownWindow(name, options) ?? defaultWindowTokens;
}

/** The same without a guess: undefined when neither the catalog nor the name itself tells. */
export function knownWindow(name: string, options: ModelOptions = {}): number | undefined {
  const known = findModel(name, options)?.windowTokens;
  return known ?? bareWindow(name) ?? statedWindow(lastSegment(canonical(name)));
}

type Index = ReadonlyMap<string, ModelInfo>;

interface Found {
  readonly model: ModelInfo;
  /** What the name has behind the id: `-20250929`, `:free`, `[1m]`. */
  readonly rest: string;
}

const catalogIndex = indexOf(catalog);

function indexOf(rows: readonly ModelInfo[]): Index {
  // The first row of an id wins, hence the reversal.
  return new Map(
    [...rows]
      .reverse()
      .flatMap((row) => [row.id, ...(row.aliases ?? [])].map((id) => [canonical(id), row] as const)),
  );
}

/** Lower case; dots in Claude's versions become the dashes of its own ids (`claude-sonnet-4.5`). */
function canonical(name: string): string {
  const lower = name.length > longestName ? '' : name.trim().toLowerCase();
  return lower.includes('claude-') ? lower.replaceAll(/(?<=\d)\.(?=\d)/g, '-') : lower;
}

const cloudVendor =
  /^(?:[a-z]{2,6}(?:-gov)?\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|mistral|moonshot|openai|qwen)\./;

/** Looks the name up as it stands, then without its first path segment, and so on. */
function lookUp(name: string, index: Index): Found | undefined {
  for (let tail = canonical(name); tail !== ''; tail = tail.slice(tail.indexOf('/') + 1)) {
    const found = longestId(tail, index) ?? longestId(tail.replace(cloudVendor, ''), index);
    if (found !== undefined || !tail.includes('/')) return found;
  }
  return undefined;
}

/** The longest id that the name begins with and that ends at a border of the name. */
function longestId(name: string, index: Index): Found | undefined {
  for (let end = name.length; end > 0; end--) {
    if (end < name.length && !'-:@['.includes(name.charAt(end))) continue;
    const model = index.get(name.slice(0, end));
    if (model === undefined) continue;
    const rest = name.slice(end);
    return isOtherModel(rest) ? undefined : { model, rest };
  }
  return undefined;
}

// Words that make a name another model: smaller siblings, and kinds that do something else with a window of their own.
const otherModels = new Set(
  'mini nano micro lite light small tiny flash spark image tts embed embedding transcribe'.split(' '),
);

/** Whether what follows an id makes it another model, by such a word or by a further digit of its version. */
function isOtherModel(rest: string): boolean {
  if (/^-\d{1,2}(?![\da-z])/.test(rest) && !isNeutral(rest)) return true;
  return rest.split(/[-:@[]/).some((word) => otherModels.has(word));
}

// A number before `m` that is no common window is a number of parameters.
const stated = String.raw`\[\d{1,4}[km]\]|[-:](?:\d{1,4}k|(?:1|2|10)m)(?![\da-z])`;
const date = String.raw`[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d{6}|\d{4}|\d{3}|\d\d-\d{4}|\d\d-\d\d)(?![\da-z])`;
const cloudVersion = String.raw`[-@]v\d{1,2}(?::\d{1,2})?(?![\da-z])|:\d{1,2}(?![\da-z])`;
const label =
  '[-:@](?:latest|default|preview|exp|experimental|stable|free|beta|extended|exacto|nitro|floor|online|thinking|reasoning|cloud|minimal|low|medium|high|xhigh)(?![\\da-z])';

const windowSuffix = new RegExp(stated);
const neutralSuffix = new RegExp(`^(?:${stated}|${date}|${cloudVersion}|${label})`);

/** Whether the rest of a name says nothing about the model: dates, channels, routes, efforts, windows. */
function isNeutral(rest: string): boolean {
  let left = rest;
  while (left !== '') {
    const suffix = neutralSuffix.exec(left)?.[0];
    if (suffix === undefined) return false;
    left = left.slice(suffix.length);
  }
  return true;
}

function adaptToVariant(model: ModelInfo, rest: string): ModelInfo {
  const sameModel = isNeutral(rest) ? model : { ...model, prices: undefined, priceChanges: undefined };
  const windowTokens = statedWindow(rest);
  return windowTokens === undefined ? sameModel : { ...sameModel, windowTokens, maxInputTokens: undefined };
}

function statedWindow(name: string): number | undefined {
  const suffix = windowSuffix.exec(name)?.[0];
  return suffix === undefined ? undefined : bareWindow(suffix.replaceAll(/[-:[\]]/g, ''));
}

/** `200000`, `128k`, `1m` as a number of tokens. */
function bareWindow(text: string): number | undefined {
  const match = /^\[?(\d{1,9})([km]?)\]?$/i.exec(text.trim());
  if (match === null) return undefined;
  const scale = { k: 1000, m: 1_000_000 }[match[2]?.toLowerCase() ?? ''] ?? 1;
  return Number(match[1]) * scale || undefined;
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function parseDay(text: string): string {
  const day = /^\d{4}-\d\d-\d\d/.exec(text)?.[0];
  if (day !== undefined && !Number.isNaN(Date.parse(day))) return day;
  throw new RoundfoldError('usage', `"${text.slice(0, 40)}" is no date`, {
    remedy: 'Give a day as year, month and day: 2026-12-24.',
  });
}
