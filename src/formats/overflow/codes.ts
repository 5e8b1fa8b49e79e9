import type { Wording } from './wording.ts';

/** A machine-readable code that settles the matter whatever the words say. */
export interface OverflowCode {
  readonly code: string;
  readonly provider: string;
  /** Default `prompt-too-long`. */
  readonly kind?: Wording['kind'];
}

/** Values of `code`, `type` and their like. Another code is another row. */
export const overflowCodes: readonly OverflowCode[] = [
  { code: 'context_length_exceeded', provider: 'openai' },
  { code: 'exceed_context_size_error', provider: 'llama.cpp' },
  { code: 'model_context_window_exceeded', provider: 'z.ai' },
  { code: '3051', provider: 'mistral' },
  { code: 'request_too_large', provider: 'anthropic', kind: 'body-too-large' },
  { code: 'request_body_too_large_after_decoding', provider: 'anthropic', kind: 'body-too-large' },
];
