import {
  base64AndWord,
  hex,
  hexAndHyphen,
  lettersAndDigits,
  upperAndDigits,
  word,
  wordAndDot,
  wordAndHyphen,
} from '../scan.ts';
import { exactly, optional, run, type TokenKind } from '../token.ts';

/** Tokens of forges, registries, builds and tools. Formats: public rules of secret scanners and documentation of vendors, where there are any. */
export const codeKinds: readonly TokenKind[] = [
  { kind: 'github-token', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghr_', 'github_pat_'], parts: [run(word, 36)] },
  {
    kind: 'github-token', // a short one, or a JWT
    prefixes: ['ghs_'],
    parts: [run(wordAndHyphen, 36), optional(wordAndHyphen), optional(wordAndHyphen)],
  },
  {
    kind: 'gitlab-token', // GitLab documentation, "token overview"
    prefixes: [
      ...['glpat-', 'gldt-', 'glrt-', 'glrtr-', 'glcbt-', 'glptt-', 'glft-', 'glimt-', 'glagent-', 'gloas-'],
      ...['glsoat-', 'glffct-', 'GR1348941'],
    ],
    parts: [run(wordAndHyphen, 20), optional(wordAndHyphen), optional(wordAndHyphen)],
  },
  { kind: 'atlassian-token', prefixes: ['ATATT3', 'ATCTT3', 'ATBB'], parts: [run(base64AndWord, 24)] },
  { kind: 'sourcegraph-token', prefixes: ['sgp_'], parts: [run(word, 40)] },
  { kind: 'npm-token', prefixes: ['npm_'], parts: [exactly(lettersAndDigits, 36)] },
  { kind: 'pypi-token', prefixes: ['pypi-AgE'], parts: [run(wordAndHyphen, 50)] },
  { kind: 'rubygems-key', prefixes: ['rubygems_'], parts: [exactly(hex, 48)] },
  { kind: 'crates-token', prefixes: ['cio'], parts: [exactly(lettersAndDigits, 32)], mustLookRandom: true },
  { kind: 'nuget-key', prefixes: ['oy2'], parts: [exactly(lettersAndDigits, 43)], mustLookRandom: true },
  { kind: 'clojars-token', prefixes: ['CLOJARS_'], parts: [exactly(lettersAndDigits, 60)] },
  { kind: 'docker-token', prefixes: ['dckr_pat_', 'dckr_oat_'], parts: [run(wordAndHyphen, 24)] },
  { kind: 'artifactory-key', prefixes: ['AKCp'], parts: [exactly(lettersAndDigits, 69)] },
  { kind: 'circleci-token', prefixes: ['CCIPAT_', 'CCIPRJ_'], parts: [run(word, 50)] },
  { kind: 'buildkite-token', prefixes: ['bkua_', 'bkct_', 'bkat_'], parts: [run(lettersAndDigits, 32)] },
  { kind: 'prefect-key', prefixes: ['pnu_'], parts: [exactly(lettersAndDigits, 36)] },
  { kind: 'sonar-token', prefixes: ['squ_', 'sqp_', 'sqa_'], parts: [exactly(hex, 40)] },
  { kind: 'postman-key', prefixes: ['PMAK-'], parts: [exactly(hexAndHyphen, 59)] },
  { kind: 'linear-key', prefixes: ['lin_api_', 'lin_oauth_'], parts: [run(lettersAndDigits, 40, 64)] },
  { kind: 'notion-token', prefixes: ['ntn_'], parts: [run(lettersAndDigits, 40, 50)] },
  { kind: 'notion-token', prefixes: ['secret_'], parts: [exactly(lettersAndDigits, 43)] },
  { kind: 'figma-token', prefixes: ['figd_', 'figo_', 'figu_'], parts: [run(wordAndHyphen, 36)] },
  {
    kind: 'airtable-token',
    prefixes: ['pat'],
    parts: [exactly(lettersAndDigits, 14), exactly(hex, 64)],
  },
  { kind: 'typeform-token', prefixes: ['tfp_'], parts: [run(wordAndDot, 40)] },
  { kind: 'readme-key', prefixes: ['rdme_'], parts: [run(lettersAndDigits, 70)] },
  { kind: 'contentful-token', prefixes: ['CFPAT-'], parts: [run(wordAndHyphen, 40)] },
  { kind: 'octopus-key', prefixes: ['API-'], parts: [exactly(upperAndDigits, 26)], mustLookRandom: true },
  { kind: 'scalingo-token', prefixes: ['tk-us-'], parts: [exactly(wordAndHyphen, 48)] },
  { kind: 'adobe-secret', prefixes: ['p8e-'], parts: [exactly(lettersAndDigits, 32)] },
  { kind: 'frameio-token', prefixes: ['fio-u-'], parts: [exactly(wordAndHyphen, 64)] },
  // One line of `age-keygen`, in Bech32.
  { kind: 'age-key', prefixes: ['AGE-SECRET-KEY-1'], parts: [exactly(upperAndDigits, 58)] },
];
