import { type MediaRules, openaiTiles } from './media-tokens.ts';
import { textEstimateError } from './text-estimator-weights.gen.ts';

/** How one family of models turns a request into tokens, as far as it differs from plain o200k text. */
export interface TokenProfile {
  readonly family: string;
  /** Tokens of this family per o200k token of the same text. */
  readonly textRatio: number;
  /** Relative error that an estimate stays below in 19 of 20 cases, before any usage was reported. */
  readonly relativeError: number;
  readonly perMessageTokens: number;
  readonly perRequestTokens: number;
  /** Hidden prompt that comes with the first tool definition, and what wraps each further one. */
  readonly toolPromptTokens: number;
  readonly perToolTokens: number;
  /** Tokens per character of redacted, encrypted or signed content. */
  readonly sealedTokensPerCharacter: number;
  readonly media: MediaRules;
}

/** OpenAI's o200k family with the overheads of its chat cookbook. The profile of models nobody knows. */
export const o200kProfile: TokenProfile = {
  family: 'o200k',
  textRatio: 1,
  relativeError: textEstimateError.p95Relative,
  perMessageTokens: 3,
  perRequestTokens: 3,
  toolPromptTokens: 12,
  perToolTokens: 7,
  sealedTokensPerCharacter: 0.19,
  media: {
    image: openaiTiles(85, 170),
    unknownImageTokens: 765,
    pdfPageTokens: 1500,
    audioTokensPerSecond: 10,
    videoTokensPerSecond: 263,
  },
};
