import type { Seal, SealVerdict, SealVerifier } from '../contract.ts';
import { type Finding, report } from '../finding.ts';
import { field } from './fields.ts';
import type { Content, GeminiRequest } from './request.ts';
import { geminiRules } from './rules.ts';

const { thoughtSignatureMissing, thoughtSignatureInvalid } = geminiRules;

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

/** Thought signatures. Only the current turn, everything after the user's last own message, is held to them. */
export function checkSignatures(request: GeminiRequest): readonly Finding[] {
  const turnStart = request.contents.findLastIndex((content) => content.opensTurn);
  return request.contents.flatMap((content, index) => [
    ...(index > turnStart ? checkFirstCall(content, index, request) : []),
    ...content.parts.flatMap((part, position) =>
      checkSignature(part, [index, position], index > turnStart, request),
    ),
  ]);
}

/** With parallel calls only the first part carries a signature. */
function checkFirstCall(
  { parts, calls }: Content,
  index: number,
  { generation }: GeminiRequest,
): readonly Finding[] {
  const [position] = calls;
  if (position === undefined || generation === undefined || generation < strictGeneration) return [];
  const signature = field(parts[position], 'thoughtSignature');
  if (signature !== undefined && signature !== '') return [];
  const path = `contents[${index}].parts[${position}]`;
  return [
    report(thoughtSignatureMissing, {
      place: [index, position],
      path,
      message: thoughtSignatureMissing.wording(),
    }),
  ];
}

function checkSignature(
  part: unknown,
  place: readonly [number, number],
  isCurrent: boolean,
  { body, context }: GeminiRequest,
): readonly Finding[] {
  const signature = field(part, 'thoughtSignature');
  if (signature === undefined || signature === '') return [];
  const path = `contents[${place[0]}].parts[${place[1]}]`;
  const verdict = judge(signature, { kind: 'thought-signature', value: part, path, body }, context.seals);
  if (verdict === 'valid' || verdict === 'gap') return [];
  return [
    report(thoughtSignatureInvalid, {
      place,
      path,
      message:
        verdict === 'foreign-prefix'
          ? thoughtSignatureInvalid.wording.foreign()
          : thoughtSignatureInvalid.wording.corrupted(),
      severity: isCurrent ? 'error' : 'warning',
    }),
  ];
}

/** Without a verifier only the shape is known. */
function judge(signature: unknown, seal: Seal, seals: SealVerifier | undefined): SealVerdict {
  if (typeof signature !== 'string') return 'tampered';
  return bypassValues.has(signature) ? 'valid' : (seals?.(seal) ?? 'valid');
}
