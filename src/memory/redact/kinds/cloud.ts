import {
  base64AndWord,
  digits,
  hex,
  hexAndHyphen,
  lettersAndDigits,
  unreserved,
  upperAndDigits,
  urlPath,
  word,
  wordAndDot,
  wordAndHyphen,
} from '../scan.ts';
import { exactly, run, type TokenKind } from '../token.ts';

/** Keys of clouds, hosting, databases and monitoring. Formats: public rules of secret scanners and documentation of vendors, where there are any. */
export const cloudKinds: readonly TokenKind[] = [
  {
    kind: 'aws-access-key-id', // IAM user guide, "unique identifiers"
    prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    parts: [exactly(upperAndDigits, 16)],
  },
  { kind: 'aws-bedrock-key', prefixes: ['ABSK'], parts: [run(base64AndWord, 100, 280)] },
  { kind: 'google-api-key', prefixes: ['AIza'], parts: [exactly(wordAndHyphen, 35)] },
  { kind: 'google-oauth', prefixes: ['GOCSPX-', 'ya29.', '4/0A', '1//0'], parts: [run(wordAndHyphen, 20)] },
  // Three characters, a version, `Q~`, the rest: the secret of an application in Entra.
  {
    kind: 'azure-client-secret',
    prefixes: ['0Q~', '1Q~', '2Q~', '3Q~', '4Q~', '5Q~', '6Q~', '7Q~', '8Q~', '9Q~'],
    before: exactly(wordAndDot, 3),
    parts: [run(unreserved, 31, 36)],
  },
  { kind: 'alibaba-access-key-id', prefixes: ['LTAI'], parts: [run(lettersAndDigits, 12, 20)] },
  {
    kind: 'digitalocean-token',
    prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'],
    parts: [exactly(hex, 64)],
  },
  { kind: 'cloudflare-ca-key', prefixes: ['v1.0-'], parts: [exactly(hexAndHyphen, 171)] },
  { kind: 'heroku-key', prefixes: ['HRKU-'], parts: [run(wordAndHyphen, 36)] },
  {
    kind: 'netlify-token',
    prefixes: ['nfp_', 'nfc_', 'nfo_', 'nfu_'],
    parts: [run(word, 36, 46)],
  },
  {
    kind: 'vercel-token',
    prefixes: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'],
    parts: [run(lettersAndDigits, 24)],
  },
  { kind: 'fly-token', prefixes: ['fm1r_', 'fm1a_', 'fm2_', 'fo1_'], parts: [run(base64AndWord, 40)] },
  { kind: 'render-key', prefixes: ['rnd_'], parts: [run(lettersAndDigits, 28, 40)] },
  { kind: 'supabase-key', prefixes: ['sbp_'], parts: [exactly(hex, 40)] },
  { kind: 'supabase-key', prefixes: ['sb_secret_'], parts: [run(wordAndHyphen, 28)] },
  { kind: 'neon-key', prefixes: ['napi_'], parts: [run(lettersAndDigits, 40)] },
  {
    kind: 'planetscale-token',
    prefixes: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'],
    parts: [run(wordAndDot, 32, 64)],
  },
  { kind: 'databricks-token', prefixes: ['dapi'], parts: [run(hexAndHyphen, 32, 34)] },
  { kind: 'new-relic-key', prefixes: ['NRAK-', 'NRII-', 'NRRA-'], parts: [run(wordAndHyphen, 27, 42)] },
  { kind: 'new-relic-key', prefixes: ['NRJS-'], parts: [exactly(hex, 19)] },
  { kind: 'grafana-token', prefixes: ['glsa_'], parts: [exactly(word, 41)] },
  { kind: 'grafana-token', prefixes: ['glc_'], parts: [run(base64AndWord, 32)] },
  { kind: 'sentry-token', prefixes: ['sntrys_'], parts: [run(base64AndWord, 60)] },
  { kind: 'sentry-token', prefixes: ['sntryu_', 'sntrya_'], parts: [exactly(hex, 64)] },
  {
    kind: 'dynatrace-token',
    prefixes: ['dt0c01.', 'dt0s16.'],
    parts: [run(lettersAndDigits, 8, 24), run(lettersAndDigits, 64)],
  },
  {
    kind: 'vault-token',
    prefixes: ['hvs.', 'hvb.', 'hvr.'],
    parts: [run(wordAndHyphen, 24)],
    mustLookRandom: true,
  },
  {
    kind: 'terraform-token',
    prefixes: ['.atlasv1.'],
    before: exactly(lettersAndDigits, 14),
    parts: [run(wordAndHyphen, 60, 70)],
  },
  { kind: 'pulumi-token', prefixes: ['pul-'], parts: [exactly(hex, 40)] },
  // A service token names its environment between the prefix and the secret.
  {
    kind: 'doppler-token',
    prefixes: ['dp.pt.', 'dp.ct.', 'dp.st.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    parts: [run(wordAndDot, 40)],
  },
  { kind: '1password-token', prefixes: ['ops_eyJ'], parts: [run(base64AndWord, 100)] },
  { kind: 'tailscale-key', prefixes: ['tskey-'], parts: [run(wordAndHyphen, 20)], mustLookRandom: true },
  { kind: 'openshift-token', prefixes: ['sha256~'], parts: [exactly(wordAndHyphen, 43)] },
  {
    kind: 'telegram-token',
    prefixes: [':AA'],
    before: run(digits, 8, 10),
    parts: [run(wordAndHyphen, 32, 34)],
  },
  // Base64 of the digits of an id, a time, a signature.
  {
    kind: 'discord-token',
    prefixes: ['MD', 'MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT'],
    parts: [run(wordAndHyphen, 20, 26), run(wordAndHyphen, 5, 7), run(wordAndHyphen, 27, 45)],
  },
  {
    kind: 'discord-webhook',
    prefixes: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    parts: [run(urlPath, 60)],
    keepsPrefix: true,
  },
];
