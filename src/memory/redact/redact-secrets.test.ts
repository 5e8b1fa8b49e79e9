import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pem, pemLines, randomLetters, tokenSamples } from '../../../test/support/secrets.ts';
import { secretNames } from './assignment.ts';
import { programs } from './command-line.ts';
import { redactSecrets } from './redact-secrets.ts';

const random = randomLetters(24);

/** Pieces of everything that matters to a rule, so that they meet in every order. */
const fragments = fc.constantFrom(
  ...tokenSamples.map(({ text }) => text),
  ...tokenSamples.map(({ prefix }) => prefix),
  ...secretNames.map(({ ending }) => ending),
  ...[
    '=',
    ':',
    '://',
    '@',
    '"',
    "'",
    '\\"',
    '\\',
    '\\n',
    '\n',
    ' ',
    '.',
    '-',
    '_',
    '/',
    '[',
    ']',
    '(',
    ',',
    '%3D',
  ],
  ...[
    'Authorization: Basic ',
    'Cookie: ',
    '; ',
    'seed phrase: ',
    'legal ',
    'legal winner thank year '.repeat(3),
    ':5432:',
    'password is ',
    '<token>',
    'value',
    ...programs.flatMap(({ names, flags }) => [...names, ...flags]),
    '--token ',
    'hunter2',
    'user',
    'a',
    'A1',
    '$',
    '\ud83d',
    '\ude00',
    'ä',
    '[redacted token]',
    '"]',
    '=>',
  ],
  ...[random, randomLetters(9), randomLetters(40), ...pemLines, `password=${random}`, `://u:${random}@`],
  ...[
    pem('PRIVATE KEY', pemLines),
    pem('PRIVATE KEY', []),
    `${'-'.repeat(5)}BEGIN PRIVATE KEY${'-'.repeat(5)}`,
  ],
);
const texts = fc.oneof(
  { weight: 4, arbitrary: fc.array(fragments, { maxLength: 12 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);

describe('redactSecrets', () => {
  it('finds nothing in what it has redacted', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = redactSecrets(text).text;
        expect(redactSecrets(once)).toEqual({ text: once, found: [] });
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    { kind: 'google-api-key', prefix: 'AIza', rest: pem('PRIVATE KEY', pemLines), why: 'it was too long' },
    {
      kind: 'gitlab-token',
      prefix: 'glpat-',
      rest: `.sk-ant-${random}ya29.${random}[redacted token]`,
      why: 'it went on behind a dot',
    },
  ])('does not take a $kind for one afterwards that was none before: $why', ({ kind, prefix, rest }) => {
    const { text } = tokenSamples.find((sample) => sample.kind === kind && sample.prefix === prefix)!;
    const once = redactSecrets(text + rest).text;

    expect(once).toContain(text);
    expect(redactSecrets(once).text).toBe(once);
  });

  it.each([
    { why: 'two rules announce at one place', front: 'api_key:5432:mnemonic=cookie::', back: '>' },
    { why: 'a name would begin within a secret', front: '', back: 'Cookie: password=winner1&&' },
  ])('finds everything at once: $why', ({ front, back }) => {
    const { text } = tokenSamples.find(({ prefix }) => prefix === 'glpat-')!;
    const once = redactSecrets(front + text + back).text;

    expect(redactSecrets(once).text).toBe(once);
  });

  it('does not take the rest of overlong credentials for credentials', () => {
    const once = redactSecrets(`Authorization: Basic ${'a'.repeat(505)}${pem('PRIVATE KEY', pemLines)}`).text;

    expect(once).toMatch(/a\[redacted private-key\]$/);
    expect(redactSecrets(once).text).toBe(once);
  });

  it('changes nothing but what it reports, in order', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { text: redacted, found } = redactSecrets(text);
        let expected = '';
        let written = 0;
        for (const { kind, start, length } of found) {
          expect(start).toBeGreaterThanOrEqual(written);
          expect(length).toBeGreaterThan(0);
          expected += `${text.slice(written, start)}[redacted ${kind}]`;
          written = start + length;
        }
        expect(redacted).toBe(expected + text.slice(written));
      }),
      { numRuns: 1000 },
    );
  });

  it('cuts no character in two', () => {
    fc.assert(
      fc.property(texts, (text) => {
        if (text.isWellFormed()) expect(redactSecrets(text).text.isWellFormed()).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('writes the same in the place of the same secret, however often it stands there', () => {
    const { text } = tokenSamples[0]!;
    const lines = [`a ${text} b`, `token=${text}`, `curl -H "x-api-key: ${text}"`, `https://u:${text}@h`];
    const redacted = redactSecrets(lines.join('\n')).text;

    expect(redacted).not.toContain(text);
    expect(new Set(redacted.match(/\[redacted [^\]]*\]/g)).size).toBe(1);
  });

  const begin = `${'-'.repeat(5)}BEGIN `;
  it.each([
    'A',
    'a=',
    'eyJ',
    'eyJ.',
    'eyJhbGciOiJIUzI1NiJ9.',
    begin.trimEnd(),
    begin,
    `${begin}PRIVATE KEY-----`,
    `${begin}PRIVATE KEY-----\nVersion: `,
    `${begin}PRIVATE KEY-----\nVersion: 1\n`,
    `${begin}PRIVATE KEY----- aa `,
    '-',
    'sk-',
    'sk-a.',
    'ghs_.',
    'ghs_a.',
    'AKIA',
    'token:',
    'token=',
    'token="',
    'token=\\"',
    'token="\\',
    'password:a',
    'password = ',
    '://',
    '://a',
    '://a:',
    '://:',
    'a:b@',
    'Bearer ',
    'bearer a',
    'Authorization: Basic ',
    'authorization:basic a',
    'Cookie: ',
    'Cookie: a=',
    `Cookie: a=${random}; `,
    '>',
    '<token>',
    '<password>a1',
    'value=',
    'name: password value: ',
    '"',
    '"\'',
    '"a":\n',
    '"token":\n ',
    '--',
    '--token ',
    '--a-',
    '--password a1 ',
    'curl ',
    'curl -u ',
    'curl -u a:',
    ' -u a:b',
    'mysql -p',
    'sshpass -p "',
    ':5432:',
    ':5432:a:',
    'password is ',
    'password "',
    'mnemonic',
    'mnemonic: ',
    'mnemonic: legal ',
    'seed phrase: legal winner ',
    '.atlasv1.',
    '12345678:AA',
    '12345678:',
    `${'a'.repeat(32)}-us1`,
    '$6$',
    'MTa.',
    'SG.',
    'your-',
    '\n',
    '&&',
    '?.a',
    '=',
    ':',
    'a1B2',
    'password=a1B2c3.',
    ' ',
    '\\n',
    '[redacted ',
    'xoxe.xoxe.',
    random,
    `password=${random} `,
  ])('reads %j, repeated, a fixed number of times', (unit) => {
    const short = countCharactersRead(unit.repeat(Math.ceil(16_384 / unit.length)));
    const long = countCharactersRead(unit.repeat(Math.ceil(131_072 / unit.length)));

    expect(long / short).toBeLessThan(9);
    expect(long / 131_072).toBeLessThan(120);
  });
});

/** How many characters a redaction looks at: every loop over the text asks for them one by one. */
function countCharactersRead(text: string): number {
  const { charCodeAt, charAt, slice } = String.prototype;
  let count = 0;
  const countIn = <Arguments extends number[], Result>(method: (...all: Arguments) => Result) =>
    function counted(this: string, ...all: Arguments): Result {
      count += 1;
      return method.apply(this, all);
    };
  try {
    String.prototype.charCodeAt = countIn(charCodeAt);
    String.prototype.charAt = countIn(charAt);
    String.prototype.slice = function counted(this: string, from?: number, to?: number) {
      const piece = slice.call(this, from, to);
      count += piece.length;
      return piece;
    };
    redactSecrets(text);
  } finally {
    Object.assign(String.prototype, { charCodeAt, charAt, slice });
  }
  return count;
}
