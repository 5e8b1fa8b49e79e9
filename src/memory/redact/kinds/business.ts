import { digits, hex, hexAndHyphen, lettersAndDigits, urlPath, wordAndHyphen } from '../scan.ts';
import { exactly, run, type TokenKind } from '../token.ts';

/** Keys for payments, mail and messages. Formats: public rules of secret scanners and documentation of vendors, where there are any. */
export const businessKinds: readonly TokenKind[] = [
  {
    kind: 'stripe-key',
    prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_prod_', 'rk_prod_', 'whsec_'],
    parts: [run(lettersAndDigits, 16)],
  },
  { kind: 'square-token', prefixes: ['sq0atp-', 'sq0csp-', 'sq0idp-'], parts: [run(wordAndHyphen, 22, 43)] },
  { kind: 'square-token', prefixes: ['EAAA'], parts: [run(wordAndHyphen, 56, 62)], mustLookRandom: true },
  {
    kind: 'shopify-token',
    prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shpua_'],
    parts: [exactly(hex, 32)],
  },
  { kind: 'razorpay-key', prefixes: ['rzp_live_', 'rzp_test_'], parts: [run(lettersAndDigits, 14, 24)] },
  { kind: 'easypost-key', prefixes: ['EZAK', 'EZTK'], parts: [exactly(lettersAndDigits, 54)] },
  { kind: 'shippo-token', prefixes: ['shippo_live_', 'shippo_test_'], parts: [exactly(hex, 40)] },
  {
    kind: 'plaid-token',
    prefixes: ['access-sandbox-', 'access-development-', 'access-production-'],
    parts: [exactly(hexAndHyphen, 36)],
  },
  {
    kind: 'sendgrid-key',
    prefixes: ['SG.'],
    parts: [exactly(wordAndHyphen, 22), exactly(wordAndHyphen, 43)],
  },
  { kind: 'mailgun-key', prefixes: ['key-'], parts: [exactly(hex, 32)] },
  { kind: 'mailchimp-key', prefixes: ['-us'], before: exactly(hex, 32), parts: [run(digits, 1, 2)] },
  { kind: 'brevo-key', prefixes: ['xkeysib-', 'xsmtpsib-'], parts: [run(wordAndHyphen, 64)] },
  { kind: 'resend-key', prefixes: ['re_'], parts: [run(wordAndHyphen, 30, 40)], mustLookRandom: true },
  { kind: 'twilio-key', prefixes: ['SK'], parts: [exactly(hex, 32)] },
  {
    kind: 'hubspot-token',
    prefixes: ['pat-na1-', 'pat-na2-', 'pat-eu1-'],
    parts: [exactly(hexAndHyphen, 36)],
  },
  { kind: 'mapbox-token', prefixes: ['sk.eyJ'], parts: [run(wordAndHyphen, 50), run(wordAndHyphen, 20)] },
  {
    kind: 'slack-token', // Slack documentation, "token types"
    prefixes: [
      'xoxb-',
      'xoxp-',
      'xoxa-',
      'xoxr-',
      'xoxs-',
      'xoxc-',
      'xoxd-',
      'xoxe-',
      'xoxo-',
      'xoxe.xox',
      'xapp-',
    ],
    parts: [run(wordAndHyphen, 16)],
  },
  {
    kind: 'slack-webhook',
    prefixes: ['hooks.slack.com/services/', 'hooks.slack.com/workflows/', 'hooks.slack.com/triggers/'],
    parts: [run(urlPath, 20)],
    keepsPrefix: true,
  },
  {
    kind: 'webhook',
    prefixes: ['hooks.zapier.com/hooks/catch/', 'webhook.office.com/webhookb2/'],
    parts: [run(urlPath, 12)],
    keepsPrefix: true,
  },
];
