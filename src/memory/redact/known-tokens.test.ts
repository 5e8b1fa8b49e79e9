import { expect, test } from 'vitest';
import { redactSecrets } from './redact-secrets.ts';

// Written by hand from what vendors publish, and not from the table under test: whoever breaks a row there is seen here.
// Letters are put in at run time, so that no scanner takes this file for a leak.

const CLASSES: Readonly<Record<string, string>> = {
  /** Letters and digits. */
  a: 'k7Rq2ZtVb9XmWc4LpYd8NsFh3GjTe6UaQo5',
  /** Hexadecimal digits. */
  h: '7f3a9c1e5b2d8064',
  /** Capitals and digits. */
  U: 'Q7ZK2VT9XM4WLP8YD3NSFHGJ6RUA5',
  /** Digits. */
  d: '7302941865',
};

/** `SG.{a22}.{a43}`: 22 letters and digits, a dot, 43 of them. */
function written(shape: string): string {
  return shape.replaceAll(/\{(\w)(\d+)\}/g, (_all, name: string, count: string) => {
    const letters = CLASSES[name] ?? '';
    return Array.from(
      { length: Number(count) },
      (_one, index) => letters[(index * 11) % letters.length],
    ).join('');
  });
}

test.each([
  ['Anthropic', 'sk-ant-api03-{a86}-{a6}AA'],
  ['OpenAI', 'sk-proj-{a48}'],
  ['OpenRouter', 'sk-or-v1-{h64}'],
  ['Hugging Face', 'hf_{a34}'],
  ['Replicate', 'r8_{a37}'],
  ['Groq', 'gsk_{a52}'],
  ['xAI', 'xai-{a80}'],
  ['Perplexity', 'pplx-{a48}'],
  ['AWS access key', 'AKIA{U16}'],
  ['AWS temporary key', 'ASIA{U16}'],
  ['Google API key', 'AIza{a35}'],
  ['Google OAuth secret', 'GOCSPX-{a28}'],
  ['DigitalOcean', 'dop_v1_{h64}'],
  ['Netlify', 'nfp_{a36}'],
  ['Supabase', 'sbp_{h40}'],
  ['Databricks', 'dapi{h32}'],
  ['New Relic', 'NRAK-{U27}'],
  ['Grafana service account', 'glsa_{a32}_{h8}'],
  ['Sentry user', 'sntryu_{h64}'],
  ['Dynatrace', 'dt0c01.{U24}.{U64}'],
  ['Vault', 'hvs.{a24}'],
  ['Terraform Cloud', '{a14}.atlasv1.{a67}'],
  ['Pulumi', 'pul-{h40}'],
  ['Doppler', 'dp.pt.{a43}'],
  ['Tailscale', 'tskey-auth-{a17}-{a32}'],
  ['Telegram', '{d10}:AA{a33}'],
  ['GitHub classic', 'ghp_{a36}'],
  ['GitHub fine-grained', 'github_pat_{a22}_{a59}'],
  ['GitHub app', 'ghs_{a36}'],
  ['GitLab', 'glpat-{a20}'],
  ['Atlassian', 'ATATT3xFfGF0{a180}'],
  ['npm', 'npm_{a36}'],
  ['PyPI', 'pypi-AgEIcHlwaS5vcmc{a70}'],
  ['RubyGems', 'rubygems_{h48}'],
  ['Docker Hub', 'dckr_pat_{a27}'],
  ['CircleCI', 'CCIPAT_{a22}_{h40}'],
  ['Postman', 'PMAK-{h24}-{h34}'],
  ['Linear', 'lin_api_{a40}'],
  ['Notion', 'secret_{a43}'],
  ['Figma', 'figd_{a40}'],
  ['Airtable', 'pat{a14}.{h64}'],
  ['Stripe live', 'sk_live_{a24}'],
  ['Stripe webhook', 'whsec_{a32}'],
  ['Square', 'sq0atp-{a22}'],
  ['Shopify', 'shpat_{h32}'],
  ['SendGrid', 'SG.{a22}.{a43}'],
  ['Mailgun', 'key-{h32}'],
  ['Mailchimp', '{h32}-us14'],
  ['Brevo', 'xkeysib-{h64}-{a16}'],
  ['Twilio', 'SK{h32}'],
  ['Slack bot', 'xoxb-{d12}-{d13}-{a24}'],
  ['Slack app', 'xapp-1-A{U10}-{d13}-{h64}'],
  ['Bearer header', 'Bearer {a40}'],
])('%s keys are taken out of a text', (_vendor, shape) => {
  const secret = written(shape);
  const { text } = redactSecrets(`set the value ${secret} before you start`);

  expect(text).not.toContain(secret.slice(-12));
  expect(text).toMatch(/^set the value .*before you start$/);
});
