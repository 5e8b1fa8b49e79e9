import { type Finding, type RuleRow, report } from '../finding.ts';
import type { Content, GeminiRequest } from './request.ts';
import { geminiRules } from './rules.ts';

const { toolCallOutOfTurn, toolResultWithoutCall, toolCallWithoutResult, toolResultsMiscounted } =
  geminiRules;

/**
 * Calls and responses pair by count and neighbourhood: ids are often missing on the side of the calls.
 * Responses of one batch that are split over several contents are refused as a wrong count.
 */
export function checkTurns({ contents }: GeminiRequest): readonly Finding[] {
  const findings: Finding[] = [];
  let hasUserBefore = false;
  let awaited = 0;
  for (const [index, content] of contents.entries()) {
    const next = contents[index + 1];
    // What is left of a split batch belongs to its wrong count and is no second fault.
    if (content.responseCount > 0 && awaited <= 0) findings.push(reportTurn(toolResultWithoutCall, index));
    awaited = content.responseCount > 0 ? awaited - content.responseCount : 0;
    if (content.calls.length > 0) {
      const isOutOfPlace = !hasUserBefore || (contents[index - 1]?.calls.length ?? 0) > 0;
      if (isOutOfPlace) findings.push(reportTurn(toolCallOutOfTurn, index));
      findings.push(...checkAnswer(content, next, index));
      awaited = content.calls.length;
    }
    hasUserBefore ||= !content.isModel;
  }
  return findings;
}

/** Calls that further calls follow are not counted: those are out of place themselves. */
function checkAnswer({ calls }: Content, next: Content | undefined, index: number): readonly Finding[] {
  if (next !== undefined && (next.calls.length > 0 || next.responseCount === calls.length)) return [];
  const hasNone = next === undefined || next.responseCount === 0;
  return [reportTurn(hasNone ? toolCallWithoutResult : toolResultsMiscounted, index)];
}

function reportTurn(rule: RuleRow & { readonly wording: () => string }, index: number): Finding {
  return report(rule, { place: [index], path: `contents[${index}]`, message: rule.wording() });
}
