import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Seal, SealVerdict } from '../../contracts/contract.ts';
import { isObject, type JsonObject } from '../../conversation/json.ts';
import { asObject, canonicalJson } from '../json.ts';

/** Signs parts of answers, and judges the signatures that come back. */
export interface ThoughtSignatures {
  /** Belongs to this part, from this model. */
  sign(model: string, part: JsonObject): string;
  /** Judges the parts of a request to a model. */
  verifier(model: string): (seal: Seal) => SealVerdict;
}

const modelBytes = 8;

/** Signatures of one simulator: eight bytes that tell the model, and a code over the model and the part. */
export function createThoughtSignatures(secret: string): ThoughtSignatures {
  const digest = (...texts: readonly string[]): Buffer => {
    const hmac = createHmac('sha256', secret);
    for (const text of texts) hmac.update(`${text.length}:${text}`);
    return hmac.digest();
  };
  const modelMark = (model: string): Buffer => digest('model', model).subarray(0, modelBytes);
  const code = (model: string, part: JsonObject): Buffer => digest('part', model, signedText(part));

  return {
    sign: (model, part) => Buffer.concat([modelMark(model), code(model, part)]).toString('base64'),

    verifier: (model) => (seal) => {
      const part = asObject(seal.value);
      const bytes = Buffer.from(`${part['thoughtSignature'] ?? part['thought_signature']}`, 'base64');
      const expected = code(model, part);
      if (bytes.length !== modelBytes + expected.length) return 'tampered';
      if (!bytes.subarray(0, modelBytes).equals(modelMark(model))) return 'foreign-prefix';
      return timingSafeEqual(bytes.subarray(modelBytes), expected) ? 'valid' : 'tampered';
    },
  };
}

/**
 * What a signature stands for. Clients give calls an id where the model gave none, so the id is no part of it. A text may
 * come back in other pieces than it went out, so only its place is signed.
 */
function signedText(part: JsonObject): string {
  const call = part['functionCall'] ?? part['function_call'];
  if (!isObject(call)) return 'text';
  return canonicalJson({ name: call['name'], args: call['args'] ?? {} });
}
