import { findModel } from './catalog.ts';
import {
  claudeImages,
  geminiResolutions,
  geminiTiles,
  type MediaRules,
  openaiPatches,
  openaiTiles,
} from './media.ts';
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

/** OpenAI's o200k family with the overheads of its chat cookbook. The profile of unknown models. */
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

const claudeMedia: MediaRules = {
  image: claudeImages(1568, 1568),
  unknownImageTokens: 1568,
  // 1,500 to 3,000 tokens of text and a picture of the page.
  pdfPageTokens: 3800,
  audioTokensPerSecond: 0,
  videoTokensPerSecond: 0,
};

const geminiMedia: MediaRules = {
  image: geminiTiles(),
  unknownImageTokens: 258,
  pdfPageTokens: 258,
  audioTokensPerSecond: 32,
  videoTokensPerSecond: 263,
};

/** Claude up to 4.6. No tokenizer is published; the ratio was fitted to recorded usage (see bench/calibration). */
const claude: TokenProfile = {
  family: 'claude',
  textRatio: 1.26,
  relativeError: 0.15,
  perMessageTokens: 4,
  perRequestTokens: 8,
  toolPromptTokens: 496,
  perToolTokens: 8,
  sealedTokensPerCharacter: 0.19,
  media: claudeMedia,
};

const families: ReadonlyMap<string, TokenProfile> = new Map(
  [
    o200kProfile,
    { ...o200kProfile, family: 'cl100k', textRatio: 1.03, relativeError: 0.12 },
    claude,
    // The tokenizer of 4.7 and later makes about 30 % more tokens of the same text.
    {
      ...claude,
      family: 'claude-4.7',
      textRatio: claude.textRatio * 1.3,
      media: { ...claudeMedia, image: claudeImages(2576, 4784), unknownImageTokens: 4784 },
    },
    { ...o200kProfile, family: 'gemini', textRatio: 1.04, relativeError: 0.15, media: geminiMedia },
    { ...o200kProfile, family: 'other', textRatio: 1.08, relativeError: 0.2 },
  ].map((profile) => [profile.family, profile]),
);

/** What single models do differently from their family; the first row whose prefix fits counts. */
const exceptions: readonly (readonly [prefix: string, change: (profile: TokenProfile) => TokenProfile])[] = [
  ['claude-opus-4-7', (profile) => ({ ...profile, toolPromptTokens: 675 })],
  ['claude-opus-4-8', (profile) => ({ ...profile, toolPromptTokens: 290 })],
  ['claude-opus-5', (profile) => ({ ...profile, toolPromptTokens: 286 })],
  ['claude-sonnet-5', (profile) => ({ ...profile, toolPromptTokens: 354 })],
  ['gpt-4.1-mini', (profile) => withImages(profile, openaiPatches(1.62))],
  ['gpt-4.1-nano', (profile) => withImages(profile, openaiPatches(2.46))],
  ['o4-mini', (profile) => withImages(profile, openaiPatches(1.72))],
  ['gpt-5', (profile) => withImages(profile, openaiTiles(70, 140))],
  ['gpt-6', (profile) => withImages(profile, openaiTiles(70, 140))],
  ['gemini-3', withGeminiResolutions],
  ['gemini-4', withGeminiResolutions],
];

function withImages(profile: TokenProfile, image: MediaRules['image']): TokenProfile {
  return { ...profile, media: { ...profile.media, image } };
}

function withGeminiResolutions(profile: TokenProfile): TokenProfile {
  const media = { ...geminiMedia, image: geminiResolutions(), unknownImageTokens: 1120, pdfPageTokens: 560 };
  return { ...profile, media };
}

/** How a model counts tokens; a model that is not known counts like o200k, with a wider error bar. */
export function tokenProfileForModel(model: string | undefined): TokenProfile {
  const info = model === undefined ? undefined : findModel(model);
  const profile = families.get(info?.family ?? 'other') ?? o200kProfile;
  if (info === undefined) return profile;
  const exception = exceptions.find(([prefix]) => info.id.startsWith(prefix));
  return exception === undefined ? profile : exception[1](profile);
}
