import type { Violation } from '../contract.ts';
import type { RuleRow } from '../finding.ts';

/** A rule together with the provider's wording. `Details` is what the wording names besides the place. */
export interface WordedRule<Details extends readonly unknown[]> extends RuleRow {
  /** Default `error`. */
  readonly severity?: Violation['severity'];
  readonly wording: (path: string, ...details: Details) => string;
}

/** States that a rule is broken at a place. */
export function report<Details extends readonly unknown[]>(
  rule: WordedRule<Details>,
  path: string,
  ...details: Details
): Violation {
  return {
    rule: rule.id,
    alias: rule.alias,
    severity: rule.severity ?? 'error',
    path,
    message: rule.wording(path, ...details),
    fix: rule.fix,
  };
}
