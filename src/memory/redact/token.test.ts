import { describe, expect, it } from 'vitest';
import { randomLetters, tokenSamples } from '../../../test/support/secrets.ts';
import { redactSecrets } from './redact-secrets.ts';
import { hex } from './scan.ts';

describe('tokens that say what they are', () => {
  it.each(tokenSamples)('takes out $kind with $prefix', ({ kind, secret, text, expected }) => {
    const before = 'the key is ';
    const { text: redacted, found } = redactSecrets(`${before}${text} and works`);

    expect(redacted).toBe(`${before}${expected} and works`);
    expect(found).toEqual([{ kind, start: before.length + text.indexOf(secret), length: secret.length }]);
  });

  it.each([
    ['in quotes', '"', '"'],
    ['behind a line break', '\n', '\n'],
    ['behind a line break that JSON wrote', '\\n', '\\n'],
    ['behind a quote that JSON wrote', '\\u0022', '\\u0022'],
    ['in a query', 'https://a.example/?q%3D', '&b=1'],
    ['in a path', 'https://a.example/v1/', '/b'],
    ['at the very beginning and end', '', ''],
    ['beside half a character', '\ud83d', '\ude00'],
  ])('finds them %s', (_, before, after) => {
    for (const { text, expected, token } of tokenSamples) {
      // Digits and letters in front of these belong to them, and a slash behind those.
      if (token.before !== undefined && /\w$/.test(before)) continue;
      if (after.startsWith('/') && token.parts.some(({ alphabet }) => alphabet.ascii[47] === 1)) continue;
      expect(redactSecrets(before + text + after).text).toBe(before + expected + after);
    }
  });

  it('leaves what only begins like one, or stands within a word', () => {
    for (const { token, prefix, text } of tokenSamples) {
      const [first] = token.parts;
      const tooShort = prefix + randomLetters(Math.min(first!.least - 1, 7), first!.alphabet);
      const inside = token.before === undefined ? 'within' : randomLetters(5, token.before.alphabet);

      expect(redactSecrets(tooShort).found).toEqual([]);
      expect(redactSecrets(inside + text).found).toEqual([]);
    }
  });

  it('leaves what goes on where a token would end', () => {
    const bounded = tokenSamples.filter(({ token }) => Number.isFinite(token.parts.at(-1)!.most));

    expect(bounded.length).toBeGreaterThan(50);
    for (const { token, kind, text } of bounded) {
      const { alphabet, least, most } = token.parts.at(-1)!;
      const tooLong = text + randomLetters(most - least + 1, alphabet);
      const hasG = alphabet.ascii['G'.charCodeAt(0)] === 1;

      for (const longer of hasG ? [tooLong] : [tooLong, `${text}G`]) {
        expect(redactSecrets(longer).found.map((each) => each.kind)).not.toContain(kind);
      }
    }
  });

  it('leaves what holds the place of one', () => {
    for (const { token, prefix } of tokenSamples.filter(({ token: { before } }) => before === undefined)) {
      for (const filler of ['x', 'EXAMPLE', 'your-key-', 'Changeme', '*']) {
        const rest = token.parts.map(({ least }) => filler.repeat(least).slice(0, Math.max(least, 9)));
        expect(redactSecrets(prefix + rest.join('.')).found).toEqual([]);
      }
    }
  });

  it('takes out a token of a bot that stands in the address of its API', () => {
    const { text } = tokenSamples.find(({ kind }) => kind === 'telegram-token')!;

    expect(redactSecrets(`https://api.telegram.org/bot${text}/getMe`).text).toBe(
      'https://api.telegram.org/bot[redacted telegram-token]/getMe',
    );
  });

  it('takes out the whole path of a webhook, tenant included', () => {
    const id = randomLetters(8, hex);
    const path = `${id}-${id}@${id}-${id}/IncomingWebhook/${randomLetters(32, hex)}/${id}`;

    expect(redactSecrets(`https://a.webhook.office.com/webhookb2/${path}"`).text).toBe(
      'https://a.webhook.office.com/webhookb2/[redacted webhook]"',
    );
  });

  it('says what a token is under whatever name it stands', () => {
    for (const { text, expected, token } of tokenSamples) {
      if (token.keepsPrefix === true) continue;
      expect(redactSecrets(`MY_SECRET="${text}"`).text).toBe(`MY_SECRET="${expected}"`);
    }
  });

  it('tells apart what begins alike by the longest beginning', () => {
    const tokenOf = (prefix: string) => tokenSamples.find((sample) => sample.prefix === prefix)!.text;

    expect(redactSecrets(tokenOf('sk-ant-')).found[0]?.kind).toBe('anthropic-key');
    expect(redactSecrets(tokenOf('sk-or-v1-')).found[0]?.kind).toBe('openrouter-key');
    expect(redactSecrets(tokenOf('sk-')).found[0]?.kind).toBe('openai-key');
  });
});
