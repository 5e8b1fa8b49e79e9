/** What is wrong with settings, in words. Values are never repeated: one may be a token. */
import type { z } from 'zod';
import { RoundfoldError } from '../conversation/errors.ts';
import { nearest } from '../conversation/nearest.ts';
import { printable } from '../conversation/printable.ts';

type Issue = z.core.$ZodIssue;

/**
 * The error for settings that a schema does not take.
 * @param source the file or the layer that they stand in
 * @param namesAt the names that there are at a place
 */
export function refusal(
  { issues }: z.ZodError,
  source: string,
  namesAt: (path: readonly PropertyKey[]) => readonly string[],
): RoundfoldError {
  // A mistyped name is the reason that another one is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    return unknownName(key, { names: namesAt(issue.path), source, path: issue.path });
  }
  const name = printable(nameOf(issue?.path ?? []), 200);
  return new RoundfoldError('usage', `${name} ${issue === undefined ? 'is wrong' : tell(issue)}`, {
    place: { source },
    remedy:
      'docs/proxy-config.schema.json says what each setting takes; `roundfold proxy --print-config` shows those in force.',
  });
}

/** The error for a name that does not exist, with the one that was meant where that can be told. */
export function unknownName(
  name: string,
  known: {
    readonly names: readonly string[];
    readonly source: string;
    readonly path?: readonly PropertyKey[];
  },
): RoundfoldError {
  const { names, source, path = [] } = known;
  const meant = nearest(name, names);
  const question = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new RoundfoldError(
    'usage',
    `unknown setting ${printable(nameOf([...path, name]), 200)}${question}`,
    { place: { source }, remedy: `Known: ${names.join(', ')}.` },
  );
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function tell(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is missing'
        : `has to be ${kind(issue.expected)}, not ${kind(kindOf(issue.input))}`;
    case 'too_small': {
      const least = `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
      return `has to ${issue.origin === 'string' ? `have ${least} characters` : `be ${least}`}`;
    }
    case 'too_big': {
      const most = `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
      return `has to ${issue.origin === 'string' ? `have ${most} characters` : `be ${most}`}`;
    }
    case 'invalid_value':
      return `has to be one of: ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'url'
        ? 'has to be an address that begins with http:// or https://'
        : 'has to begin with / and have no ? or #';
    default:
      return 'is wrong';
  }
}

function kind(name: string): string {
  return Object.hasOwn(KINDS, name) ? (KINDS[name] ?? name) : name;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
