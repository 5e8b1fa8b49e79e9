import type { Finding } from '../finding.ts';
import type { Content, GeminiRequest } from './request.ts';
import { geminiRules, report } from './rules.ts';

const { G1, G2, G3 } = geminiRules;

/**
 * G1, G2 and G3. Calls and responses pair by count and neighbourhood: ids are often missing on the side of the calls.
 * Responses of one batch that are split over several contents are refused as a wrong count.
 */
export function checkTurns({ contents }: GeminiRequest): readonly Finding[] {
  const findings: Finding[] = [];
  let hasUserBefore = false;
  let awaited = 0;
  for (const [index, content] of contents.entries()) {
    const next = contents[index + 1];
    // What is left of a split batch belongs to its wrong count and is no second fault.
    if (content.responseCount > 0 && awaited <= 0) findings.push(reportTurn('G2', index, G2.wording()));
    awaited = content.responseCount > 0 ? awaited - content.responseCount : 0;
    if (content.calls.length > 0) {
      const isOutOfPlace = !hasUserBefore || (contents[index - 1]?.calls.length ?? 0) > 0;
      if (isOutOfPlace) findings.push(reportTurn('G1', index, G1.wording()));
      if (!isAnswered(content, next)) findings.push(reportTurn('G3', index, G3.wording()));
      awaited = content.calls.length;
    }
    hasUserBefore ||= !content.isModel;
  }
  return findings;
}

/** Calls that further calls follow are not counted: those are out of place themselves. */
function isAnswered({ calls }: Content, next: Content | undefined): boolean {
  return next !== undefined && (next.calls.length > 0 || next.responseCount === calls.length);
}

function reportTurn(rule: 'G1' | 'G2' | 'G3', index: number, message: string): Finding {
  return report(rule, { place: [index], path: `contents[${index}]`, message });
}
