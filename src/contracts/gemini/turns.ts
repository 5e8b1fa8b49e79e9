import type { Seal, SealVerdict, SealVerifier, Violation } from '../contract.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { type Content, field, type GeminiRequest } from './request.ts';

const otherNumber = () =>
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';

const turnRules = defineRules({
  'tool-call-out-of-turn': {
    alias: 'G1',
    title: 'function calls follow a user turn or function responses',
    fix: 'Keep the user turn before the calls, and put all calls of one answer in one content.',
    evidence: 'reported',
    wording: () =>
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
  'tool-result-without-call': {
    alias: 'G2',
    title: 'function responses follow their function calls',
    fix: 'Restore the content with the function calls directly before the responses, or remove the responses.',
    evidence: 'reported',
    wording: () => 'Please ensure that function response turn comes immediately after a function call turn.',
  },
  'tool-call-without-result': {
    alias: 'G3',
    title: 'function responses follow function calls',
    fix: 'Put one functionResponse per functionCall in the one content that follows, or remove the calls.',
    evidence: 'reported',
    wording: otherNumber,
  },
  'tool-results-miscounted': {
    alias: 'G3',
    title: 'the content after function calls holds as many responses as there are calls',
    fix: 'Put one functionResponse per functionCall in the one content that follows, or remove the calls.',
    evidence: 'reported',
    wording: otherNumber,
  },
});

/**
 * Calls and responses pair by count and neighbourhood: ids are often missing on the side of the calls.
 * Responses of one batch that are split over several contents are refused as a wrong count.
 */
export const geminiTurns: RuleGroup<GeminiRequest> = { rules: turnRules, check: checkTurns };

function checkTurns({ contents }: GeminiRequest): readonly Violation[] {
  let hasUserBefore = false;
  let awaited = 0;
  return contents.flatMap((content, index) => {
    const violations: Violation[] = [];
    // What is left of a split batch belongs to its wrong count and is no second fault.
    if (content.responseCount > 0 && awaited <= 0)
      violations.push(report(turnRules['tool-result-without-call'], content.path));
    awaited = content.responseCount > 0 ? awaited - content.responseCount : 0;
    if (content.calls.length > 0) {
      const isOutOfPlace = !hasUserBefore || (contents[index - 1]?.calls.length ?? 0) > 0;
      if (isOutOfPlace) violations.push(report(turnRules['tool-call-out-of-turn'], content.path));
      violations.push(...checkAnswer(content, contents[index + 1]));
      awaited = content.calls.length;
    }
    hasUserBefore ||= !content.isModel;
    return violations;
  });
}

/** Calls that further calls follow are not counted: those are out of place themselves. */
function checkAnswer({ calls, path }: Content, next: Content | undefined): readonly Violation[] {
  if (next !== undefined && (next.calls.length > 0 || next.responseCount === calls.length)) return [];
  const hasNone = next === undefined || next.responseCount === 0;
  return [report(turnRules[hasNone ? 'tool-call-without-result' : 'tool-results-miscounted'], path)];
}

/** The first generation whose servers insist on signatures. */
const strictGeneration = 3;

// Google documents two values that stand for calls another model made. Signatures travel in base64, and clients send
// the values both plain and encoded.
const bypassValues = new Set(
  ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].flatMap((value) => [
    value,
    btoa(value),
  ]),
);

const signatureRules = defineRules({
  'thought-signature-missing': {
    alias: 'G4',
    title:
      'Gemini 3 and later: the first call of every step of the current turn carries its thought signature',
    fix: 'Restore the thoughtSignature the model sent with the call; for calls of another model send the documented bypass value.',
    evidence: 'documented',
    wording: () =>
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.',
  },
  'thought-signature-invalid': {
    alias: 'G5',
    title: 'thought signatures go back as they came, to the model they came from',
    fix: 'Send the thoughtSignature unchanged, on the part it came with, or the documented bypass value.',
    evidence: 'reported',
    wording: (_path: string, verdict: SealVerdict) =>
      verdict === 'foreign-prefix' ? 'Invalid thought signature' : 'Corrupted thought signature.',
  },
});

/** Thought signatures. Only the current turn, everything after the user's last own message, is held to them. */
export const geminiSignatures: RuleGroup<GeminiRequest> = { rules: signatureRules, check: checkSignatures };

function checkSignatures(request: GeminiRequest): readonly Violation[] {
  const turnStart = request.contents.findLastIndex((content) => content.opensTurn);
  return request.contents.flatMap((content, index) => [
    ...(index > turnStart ? checkFirstCall(content, request) : []),
    ...content.parts.flatMap((part, position) =>
      checkSignature(part, `${content.path}.parts[${position}]`, index > turnStart, request),
    ),
  ]);
}

/** With parallel calls only the first part carries a signature. */
function checkFirstCall(
  { parts, calls, path }: Content,
  { generation = 0 }: GeminiRequest,
): readonly Violation[] {
  const [position] = calls;
  if (position === undefined || generation < strictGeneration) return [];
  const signature = field(parts[position], 'thoughtSignature');
  if (signature !== undefined && signature !== '') return [];
  return [report(signatureRules['thought-signature-missing'], `${path}.parts[${position}]`)];
}

function checkSignature(
  part: unknown,
  path: string,
  isCurrent: boolean,
  { body, context }: GeminiRequest,
): readonly Violation[] {
  const signature = field(part, 'thoughtSignature');
  if (signature === undefined || signature === '') return [];
  const verdict = judge(signature, { kind: 'thought-signature', value: part, path, body }, context.seals);
  if (verdict === 'valid' || verdict === 'gap') return [];
  const violation = report(signatureRules['thought-signature-invalid'], path, verdict);
  return [isCurrent ? violation : { ...violation, severity: 'warning' }];
}

/** Without a verifier only the shape is known. */
function judge(signature: unknown, seal: Seal, seals: SealVerifier | undefined): SealVerdict {
  if (typeof signature !== 'string') return 'tampered';
  return bypassValues.has(signature) ? 'valid' : (seals?.(seal) ?? 'valid');
}
