import { RoundfoldError } from './errors.ts';

/** A setting as data: help, configuration, command line and documentation are made from it. */
export type OptionSpec = NumberSpec | FlagSpec | TextSpec | ChoiceSpec | ListSpec;

interface Described {
  readonly help: string;
}

interface NumberSpec extends Described {
  readonly kind: 'integer' | 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

interface FlagSpec extends Described {
  readonly kind: 'flag';
  readonly default: boolean;
}

interface TextSpec extends Described {
  readonly kind: 'text';
  readonly default: string;
}

interface ChoiceSpec extends Described {
  readonly kind: 'choice';
  readonly choices: readonly string[];
  readonly default: string;
}

interface ListSpec extends Described {
  readonly kind: 'list';
  readonly default: readonly string[];
}

/** The settings of one thing, by name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The values of settings, typed by their specs. */
export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly kind: 'integer' | 'number' }
    ? number
    : Specs[Name] extends { readonly kind: 'flag' }
      ? boolean
      : Specs[Name] extends { readonly kind: 'list' }
        ? readonly string[]
        : string;
};

type Range = {
  readonly default: number;
  readonly min?: number;
  readonly max?: number;
  readonly help: string;
};

/** A whole number. */
export function integer({ min = 0, max = Number.MAX_SAFE_INTEGER, ...rest }: Range) {
  return { kind: 'integer', min, max, ...rest } as const;
}

/** Any number. */
export function number({ min = 0, max = Number.MAX_VALUE, ...rest }: Range) {
  return { kind: 'number', min, max, ...rest } as const;
}

/** Yes or no. */
export function flag(spec: Omit<FlagSpec, 'kind'>) {
  return { kind: 'flag', ...spec } as const;
}

/** Free text. */
export function text(spec: Omit<TextSpec, 'kind'>) {
  return { kind: 'text', ...spec } as const;
}

/** One of some words. */
export function choice(spec: Omit<ChoiceSpec, 'kind'>) {
  return { kind: 'choice', ...spec } as const;
}

/** Several words. */
export function list(spec: Omit<ListSpec, 'kind'>) {
  return { kind: 'list', ...spec } as const;
}

/**
 * All values of the settings: those given, checked, and the defaults of the rest. Text is taken for what the setting is,
 * so that values may come from a command line.
 * @throws RoundfoldError `usage` for a setting that does not exist or a value that does not fit
 */
export function readOptions<Specs extends OptionSpecs>(
  specs: Specs,
  given: Readonly<Record<string, unknown>>,
  owner: string,
): OptionValues<Specs> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(specs, name));
  if (unknown !== undefined) {
    const known = Object.keys(specs).join(', ') || 'none';
    throw new RoundfoldError('usage', `${owner} has no option ${JSON.stringify(unknown)}`, {
      remedy: `Known: ${known}.`,
    });
  }
  const values = Object.entries(specs).map(([name, spec]) => {
    const value = given[name];
    return [name, value === undefined ? spec.default : readValue(spec, value, `${owner}: ${name}`)];
  });
  return Object.fromEntries(values) as OptionValues<Specs>; // every name of the specs, each with a value of its kind
}

function readValue(spec: OptionSpec, value: unknown, name: string): unknown {
  switch (spec.kind) {
    case 'integer':
    case 'number':
      return readNumber(spec, value, name);
    case 'flag': {
      const word = typeof value === 'string' ? FLAG_WORDS.get(value.toLowerCase()) : value;
      return typeof word === 'boolean' ? word : refuse(name, 'yes or no', value);
    }
    case 'text':
      return typeof value === 'string' ? value : refuse(name, 'text', value);
    case 'choice':
      return typeof value === 'string' && spec.choices.includes(value)
        ? value
        : refuse(name, `one of ${spec.choices.join(', ')}`, value);
    case 'list': {
      const words: unknown = typeof value === 'string' ? splitWords(value) : value;
      const isList = Array.isArray(words) && words.every((word) => typeof word === 'string');
      return isList ? words : refuse(name, 'a list of words', value);
    }
  }
}

const FLAG_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['no', false],
  ['off', false],
]);

function readNumber(spec: NumberSpec, value: unknown, name: string): number {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value.replaceAll('_', '')) : value;
  const isNumber =
    typeof read === 'number' &&
    (spec.kind === 'integer' ? Number.isSafeInteger(read) : Number.isFinite(read));
  if (isNumber && read >= spec.min && read <= spec.max) return read;
  const kind = spec.kind === 'integer' ? 'a whole number' : 'a number';
  const most = spec.max < Number.MAX_SAFE_INTEGER ? ` and at most ${spec.max}` : '';
  return refuse(name, `${kind} of at least ${spec.min}${most}`, value);
}

function splitWords(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function refuse(name: string, wanted: string, value: unknown): never {
  throw new RoundfoldError('usage', `${name} wants ${wanted}, not ${show(value)}`, {
    remedy: `Give ${wanted}, or leave it out for the default.`,
  });
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  const isShort = value === null || typeof value === 'number' || typeof value === 'boolean';
  return isShort ? String(value) : typeof value;
}
