import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens, encode } from 'gpt-tokenizer/encoding/o200k_base';

const asPlainText = { disallowedSpecial: new Set<string>() };
const encoder = new TextEncoder();

/** How many UTF-8 bytes each token of o200k stands for. */
const tokenSizes: Uint16Array = Uint16Array.from(ranks, (token: string | readonly number[] | undefined) =>
  typeof token === 'string' ? encoder.encode(token).length : (token?.length ?? 0),
);

/** The exact number of o200k tokens. */
export function countExactly(text: string): number {
  return countTokens(text, asPlainText);
}

/** A text as bytes, and for each byte whether a token starts there. */
export interface LabelledText {
  readonly bytes: Uint8Array;
  readonly startsToken: Uint8Array;
  readonly tokens: number;
}

/** Marks where the tokens of a text start. */
export function labelText(text: string): LabelledText {
  const bytes = encoder.encode(text);
  const startsToken = new Uint8Array(bytes.length);
  const tokens = encode(text, asPlainText);
  let offset = 0;
  for (const token of tokens) {
    startsToken[offset] = 1;
    offset += tokenSizes[token] ?? 0;
  }
  if (offset !== bytes.length) throw new Error(`tokens cover ${offset} of ${bytes.length} bytes`);
  return { bytes, startsToken, tokens: tokens.length };
}
