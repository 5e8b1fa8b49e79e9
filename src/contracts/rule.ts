import type { CheckContext, Contract, Rule, Violation } from './contract.ts';

/** A rule with the provider's wording. `Details` is what the wording names besides the place. */
export interface WordedRule<Details extends readonly unknown[] = never[]> extends Rule {
  /** What the rule was called before its id said what is wrong. */
  readonly alias: string;
  /** Default `error`. */
  readonly severity?: Violation['severity'];
  readonly wording: (path: string, ...details: Details) => string;
}

/** Rules about one thing, and the check that finds what breaks them. */
export interface RuleGroup<Request> {
  readonly rules: Readonly<Record<string, WordedRule>>;
  readonly check: (request: Request) => readonly Violation[];
}

/** Rules by their ids. Each is written once, beside the check that reports it. */
export function defineRules<Rows extends Readonly<Record<string, Omit<WordedRule, 'id'>>>>(
  rows: Rows,
): { readonly [Id in keyof Rows & string]: Rows[Id] & { readonly id: Id } };
export function defineRules(
  rows: Readonly<Record<string, Omit<WordedRule, 'id'>>>,
): Readonly<Record<string, WordedRule>> {
  return Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, { ...row, id }]));
}

/** States that a rule is broken at a place. */
export function report<Details extends readonly unknown[]>(
  rule: WordedRule<Details>,
  path: string,
  ...details: Details
): Violation {
  const { id, alias, severity = 'error', fix } = rule;
  return { rule: id, alias, severity, path, message: rule.wording(path, ...details), fix };
}

/** How a wire format is judged. */
interface ContractDefinition<Request> {
  readonly format: string;
  /** Keys of a body that may hold the list of messages. Places below them are told in the order of the messages. */
  readonly listKeys: readonly string[];
  /** Reads a body without judging it, or says why it cannot be read. */
  readonly read: (body: unknown, context: CheckContext) => Request | readonly Violation[];
  readonly groups: readonly RuleGroup<Request>[];
}

/** A contract that holds a body to every group of rules. Its rules are listed by id. */
export function defineContract<Request extends object>({
  format,
  listKeys,
  read,
  groups,
}: ContractDefinition<Request>): Contract {
  return {
    format,
    rules: groups
      .flatMap(({ rules }) => Object.values(rules))
      .map(({ id, title, fix, evidence }) => ({ id, title, fix, evidence }))
      .sort((left, right) => (left.id < right.id ? -1 : 1)),

    check(body, context = {}) {
      const request = read(body, context);
      if (isList(request)) return request;
      return inOrderOfPlace(
        groups.flatMap((group) => group.check(request)),
        listKeys,
      );
    },
  };
}

/** `Array.isArray` for read-only lists. */
function isList<Item>(value: object | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value);
}

/** The frame first, then the messages in order, then the list as a whole. Faults of one place stay as they were found. */
function inOrderOfPlace(violations: readonly Violation[], listKeys: readonly string[]): readonly Violation[] {
  return violations
    .map((violation) => ({ violation, place: placeOf(violation.path, listKeys) }))
    .sort((left, right) => comparePlaces(left.place, right.place))
    .map(({ violation }) => violation);
}

/** Behind the key of the list: nothing, a message, or a part of it: `.3.content.0`, `[3].tool_calls`, `[3]`. */
const PLACE_IN_LIST = /^(?:\.?\[?(\d+)\]?(?:\.(content|parts|tool_calls)\b(?:\.?\[?(\d+))?)?|$)/;

interface Place {
  readonly message: number;
  readonly field: string;
  readonly entry: number;
}

function placeOf(path: string, listKeys: readonly string[]): Place {
  const key = /^\w*/.exec(path)?.[0] ?? '';
  const match = listKeys.includes(key) ? PLACE_IN_LIST.exec(path.slice(key.length)) : null;
  if (match === null) return { message: -1, field: '', entry: -1 };
  const [, message = Number.POSITIVE_INFINITY, field = '', entry = -1] = match;
  return { message: Number(message), field, entry: Number(entry) };
}

function comparePlaces(left: Place, right: Place): number {
  if (left.message !== right.message) return left.message - right.message;
  if (left.field !== right.field) return left.field < right.field ? -1 : 1;
  return left.entry - right.entry;
}
