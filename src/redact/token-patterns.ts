import {
  type Alphabet,
  headerToken,
  lettersAndDigits,
  upperAndDigits,
  urlPath,
  word,
  wordAndHyphen,
} from './alphabet.ts';

/** A secret that says what it is: known first letters, then letters of one alphabet. */
export interface TokenPattern {
  readonly kind: string;
  /** To the letter. Where one begins with another, the pattern of the longer one stands first. */
  readonly prefixes: readonly string[];
  readonly alphabet: Alphabet;
  /** Length behind the prefix. What is longer than `most` is something else; without it there is no limit. */
  readonly least: number;
  readonly most?: number;
  /** How many runs of the alphabet, joined by dots, make up the rest. Default: one. */
  readonly segments?: { readonly least: number; readonly most: number };
  /** Words of other meanings begin with the prefix too. */
  readonly mustLookRandom?: true;
  /** The prefix only announces the secret and stays in the text. */
  readonly keepsPrefix?: true;
}

/** Every secret that is known by its beginning. The first pattern that fits wins. */
export const tokenPatterns: readonly TokenPattern[] = [
  { kind: 'anthropic-key', prefixes: ['sk-ant-'], alphabet: wordAndHyphen, least: 20 },
  // Many providers write their keys as OpenAI does, and `sk-` begins class names as well.
  { kind: 'openai-key', prefixes: ['sk-'], alphabet: wordAndHyphen, least: 20, mustLookRandom: true },
  {
    kind: 'github-token',
    prefixes: ['ghp_', 'gho_', 'ghu_', 'ghr_', 'github_pat_'],
    alphabet: word,
    least: 36,
  },
  {
    kind: 'github-token',
    prefixes: ['ghs_'],
    alphabet: wordAndHyphen,
    least: 36,
    segments: { least: 1, most: 3 },
  },
  {
    kind: 'gitlab-token',
    prefixes: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glrtr-',
      'glcbt-',
      'glptt-',
      'glft-',
      'glimt-',
      'glagent-',
      'gloas-',
      'glsoat-',
    ],
    alphabet: wordAndHyphen,
    least: 20,
    segments: { least: 1, most: 3 },
  },
  {
    kind: 'aws-access-key-id',
    prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    alphabet: upperAndDigits,
    least: 16,
    most: 16,
  },
  { kind: 'google-api-key', prefixes: ['AIza'], alphabet: wordAndHyphen, least: 35, most: 35 },
  { kind: 'google-oauth', prefixes: ['GOCSPX-', 'ya29.'], alphabet: wordAndHyphen, least: 20 },
  {
    kind: 'slack-token',
    prefixes: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxe.xox', 'xapp-'],
    alphabet: wordAndHyphen,
    least: 16,
  },
  {
    kind: 'slack-webhook',
    prefixes: ['hooks.slack.com/services/', 'hooks.slack.com/workflows/', 'hooks.slack.com/triggers/'],
    alphabet: urlPath,
    least: 20,
    keepsPrefix: true,
  },
  {
    kind: 'stripe-key',
    prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    alphabet: lettersAndDigits,
    least: 16,
  },
  { kind: 'npm-token', prefixes: ['npm_'], alphabet: lettersAndDigits, least: 36, most: 36 },
  { kind: 'hugging-face-token', prefixes: ['hf_', 'api_org_'], alphabet: lettersAndDigits, least: 30 },
  { kind: 'groq-key', prefixes: ['gsk_'], alphabet: lettersAndDigits, least: 40 },
  { kind: 'xai-key', prefixes: ['xai-'], alphabet: lettersAndDigits, least: 40 },
  // Three segments when signed, five when encrypted. The first is JSON, and so begins with `{"`.
  { kind: 'jwt', prefixes: ['eyJ'], alphabet: wordAndHyphen, least: 30, segments: { least: 3, most: 5 } },
  {
    kind: 'bearer-token',
    prefixes: ['Bearer ', 'bearer ', 'BEARER '],
    alphabet: headerToken,
    least: 16,
    mustLookRandom: true,
    keepsPrefix: true,
  },
];
