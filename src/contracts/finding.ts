import type { Rule, Violation } from './contract.ts';

/** A violation together with the numbers that order it; the numbers are dropped before it is handed out. */
export interface Finding extends Violation {
  /** Indices from the outside in, e.g. message and call. Empty for the frame of the request, which comes first. */
  readonly place: readonly number[];
}

/** What is particular to one occurrence of a broken rule. */
export interface Fault {
  readonly place: readonly number[];
  readonly path: string;
  readonly message: string;
  /** Default `error`. */
  readonly severity?: Violation['severity'];
  /** Default: the remedy of the rule. */
  readonly fix?: string;
}

/** A rule as a row of a format's table. Rows may carry more, such as their wordings. */
export interface RuleRow extends Rule {
  readonly alias: string;
}

/** States that a rule is broken at a place. */
export function report(rule: RuleRow, fault: Fault): Finding {
  const { place, path, message, severity = 'error', fix = rule.fix } = fault;
  return { rule: rule.id, alias: rule.alias, severity, path, message, fix, place };
}

/** The rows of a table as plain rules, in the order they are written. */
export function listRules(rows: Readonly<Record<string, RuleRow>>): readonly Rule[] {
  return Object.values(rows).map(({ id, title, fix, evidence }) => ({ id, title, fix, evidence }));
}

/** Violations in order of place; faults at the same place keep the order in which they were found. */
export function inOrderOfPlace(findings: readonly Finding[]): readonly Violation[] {
  return findings
    .toSorted((left, right) => comparePlaces(left.place, right.place))
    .map(({ place: _place, ...violation }) => violation);
}

function comparePlaces(left: readonly number[], right: readonly number[]): number {
  const shared = Math.min(left.length, right.length);
  for (let level = 0; level < shared; level++) {
    const difference = (left[level] ?? 0) - (right[level] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
