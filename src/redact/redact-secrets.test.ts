import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Alphabet } from './alphabet.ts';
import { redactSecrets } from './redact-secrets.ts';
import { secretNames } from './secret-names.ts';
import { tokenPatterns } from './token-patterns.ts';

// Every sample is put together here, so that no scanner takes this file for a leak.

/** Letters that look random and are always the same: every class, in no order. */
function randomLetters(
  length: number,
  { ascii }: Alphabet | { readonly ascii: undefined } = { ascii: undefined },
) {
  const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const letters = all.filter((letter) =>
    ascii === undefined ? /[A-Za-z0-9]/.test(letter) : ascii[letter.charCodeAt(0)] === 1 && /\w/.test(letter),
  );
  return Array.from({ length }, (_, index) => letters[(index * 37 + 11 * (index % 5)) % letters.length]).join(
    '',
  );
}

const tokenSamples = tokenPatterns.flatMap((pattern) =>
  pattern.prefixes.map((prefix) => {
    const count = pattern.segments?.least ?? 1;
    const segments = Array.from({ length: count }, () => randomLetters(pattern.least, pattern.alphabet));
    const secret = segments.join('.');
    const redacted = `[redacted ${pattern.kind}]`;
    const isKept = pattern.keepsPrefix === true;
    return {
      kind: pattern.kind,
      prefix,
      secret: isKept ? secret : prefix + secret,
      text: prefix + secret,
      expected: isKept ? prefix + redacted : redacted,
    };
  }),
);

const random = randomLetters(24);
const pemLines = [randomLetters(64), randomLetters(64), `${randomLetters(20)}==`];

/** `-----BEGIN … -----`, written so that it is none here. */
function pem(label: string, lines: readonly string[], lineBreak = '\n'): string {
  const dashes = '-'.repeat(5);
  return [`${dashes}BEGIN ${label}${dashes}`, ...lines, `${dashes}END ${label}${dashes}`].join(lineBreak);
}

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
    ['in a URL', 'https://', '@a.example/'],
    ['at the very beginning and end', '', ''],
    ['beside half a character', '\ud83d', '\ude00'],
  ])('finds them %s', (_, before, after) => {
    for (const { text, expected } of tokenSamples) {
      expect(redactSecrets(before + text + after).text).toBe(before + expected + after);
    }
  });

  it('leaves what only begins or goes on like one', () => {
    for (const { prefix, secret, text } of tokenSamples) {
      const pattern = tokenPatterns.find(({ prefixes }) => prefixes.includes(prefix))!;
      const tooShort = prefix + randomLetters(Math.min(pattern.least - 1, 7), pattern.alphabet);

      expect(redactSecrets(tooShort).found).toEqual([]);
      expect(redactSecrets(`within${text}`).found).toEqual([]);
      if (pattern.most !== undefined) expect(redactSecrets(`${prefix}${secret}AAAA`).found).toEqual([]);
    }
  });
});

describe('secrets known by where they stand', () => {
  it.each([
    [
      'a URL',
      `postgres://app:${random}@db.example:5432/x`,
      'postgres://app:[redacted url-password]@db.example:5432/x',
    ],
    ['a URL whose password is a word', 'redis://u:letmein@h', 'redis://u:[redacted url-password]@h'],
    [
      'a URL whose user is called token',
      `https://token:${random}@h/`,
      'https://token:[redacted url-password]@h/',
    ],
    ['a URL without a user', 'redis://:letmein@h', 'redis://:[redacted url-password]@h'],
    ['a shell variable', `export DB_PASSWORD=${random}\n`, 'export DB_PASSWORD=[redacted password]\n'],
    ['YAML', `  db-password: ${random}\n`, '  db-password: [redacted password]\n'],
    ['JSON', `{"apiKey": "${random}", "a": 1}`, '{"apiKey": "[redacted api-key]", "a": 1}'],
    ['JSON in JSON', `{\\"apiKey\\":\\"${random}\\"}`, '{\\"apiKey\\":\\"[redacted api-key]\\"}'],
    ['a header', `X-Api-Key: ${random}\r\n`, 'X-Api-Key: [redacted api-key]\r\n'],
    ['a query', `/v1?access_token=${random}&page=2`, '/v1?access_token=[redacted token]&page=2'],
    ['code', `config['client_secret'] = '${random}';`, "config['client_secret'] = '[redacted secret]';"],
    ['Ruby', `:password => "${random}"`, ':password => "[redacted password]"'],
    ['Go', `secret := "${random}"`, 'secret := "[redacted secret]"'],
    ['padding', `api_key=${random}==`, 'api_key=[redacted api-key]'],
    ['a password a person made', 'password: Tr0ub4dor&3x', 'password: [redacted password]&3x'],
    ['a quoted password a person made', 'password: "Tr0ub4dor&3"', 'password: "[redacted password]"'],
    ['a hash of a password', `password: $2b$10$${random}`, 'password: [redacted password]'],
    [
      'AWS',
      `aws_secret_access_key = ${randomLetters(19)}/${randomLetters(20)}`,
      'aws_secret_access_key = [redacted aws-secret-key]',
    ],
    ['basic credentials', 'Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [redacted credentials]'],
    [
      'basic credentials in JSON',
      '"authorization": "Basic dXNlcjpwYXNz"',
      '"authorization": "Basic [redacted credentials]"',
    ],
    ['a bearer token', `authorization: Bearer ${random}`, 'authorization: Bearer [redacted bearer-token]'],
    ['a private key', `a ${pem('RSA PRIVATE KEY', pemLines)} b`, 'a [redacted private-key] b'],
    [
      'a private key in a string',
      `"${pem('PRIVATE KEY', pemLines, '\\n')}\\n"`,
      '"[redacted private-key]\\n"',
    ],
    [
      'an encrypted private key',
      pem('RSA PRIVATE KEY', ['Proc-Type: 4,ENCRYPTED', `DEK-Info: AES-256-CBC,${random}`, '', ...pemLines]),
      '[redacted private-key]',
    ],
    [
      'a private key that was cut off',
      `${pem('PRIVATE KEY', pemLines).slice(0, 170)}\nand more words`,
      '[redacted private-key]\nand more words',
    ],
    ['PGP', pem('PGP PRIVATE KEY BLOCK', ['Version: 2', '', ...pemLines]), '[redacted private-key]'],
  ])('takes them out of %s', (_, text, expected) => {
    expect(redactSecrets(text).text).toBe(expected);
  });

  it.each(secretNames)('knows the name $ending', ({ ending, kind }) => {
    expect(redactSecrets(`MY_${ending.toUpperCase()}=${random}`).text).toBe(
      `MY_${ending.toUpperCase()}=[redacted ${kind}]`,
    );
  });

  it('names a token that says what it is rather than the name it stands under', () => {
    const { prefix, text, expected } = tokenSamples.find(({ kind }) => kind === 'github-token')!;

    expect(prefix).not.toBe('');
    expect(redactSecrets(`password="${text}"`).text).toBe(`password="${expected}"`);
    expect(redactSecrets(`https://${text}:${random}@h`).text).toBe(
      `https://${expected}:[redacted url-password]@h`,
    );
  });
});

describe('what is no secret', () => {
  const hex = Array.from({ length: 64 }, (_, index) => ((index * 7 + 3) % 16).toString(16)).join('');
  const uuid = `${hex.slice(0, 8)}-${hex.slice(0, 4)}-4${hex.slice(0, 3)}-a${hex.slice(0, 3)}-${hex.slice(0, 12)}`;
  const image = `data:image/png;base64,${randomLetters(4000)}+/${randomLetters(999)}==`;

  it.each([
    ['nothing', ''],
    ['prose', 'The password is wrong: try the token again, or ask for a new secret.'],
    ['types', 'interface Login { password: string; token: Token | undefined; apiKey: ApiKeyProvider }'],
    ['members', 'apiKey: config.v2.apiKeyOf1, token = this.state3.token4Id;'],
    ['sentences', `password: "Enter y0ur P4ssw0rd 2x, or A1b2C3d4"`],
    ['calls', 'const token = getOAuth2Token(user1); secret = await readSecret2(path)'],
    ['environment', 'apiKey: process.env.API_KEY_2, password: os.environ["DB_PASSWORD_1"], t: $API_TOKEN_1'],
    ['variables', `password=$DB_PASSWORD1 token=\${TOKEN_1a2b} secret=%SECRET1a2B% apikey=<your-key-1A2b>`],
    ['templates', `password: "{{ db.password1 }}" token: "\${env.TOKEN_1}"`],
    ['counts', 'max_tokens: 4096, total_tokens=12345678, token: 1234567890'],
    ['dates', 'token: 2024-01-15T10:00, secret: 2024-01-15'],
    ['paths', 'private_key: /etc/ssl/private/key2A.pem, secret: ./Certs/v1/Key2.pem'],
    ['addresses', 'token: https://a.example/oauth2/v1/Token2 and http://localhost:8080/a@b'],
    ['URLs without a password', 'ssh://git@github.com/a/b https://a.example:8443/x?y=z@w git@github.com:a/b'],
    ['URLs with a place for one', 'postgres://user:$PASSWORD@h postgres://user:****@h ftp://u:<password>@h'],
    [
      'a lockfile',
      `"integrity": "sha512-${randomLetters(86)}==", "resolved": "https://r.example/a/-/a-1.0.0.tgz"`,
    ],
    ['checksums', `sha256:${hex} ${hex.slice(0, 40)} commit ${hex.slice(0, 7)}`],
    ['identifiers', `id: ${uuid}, session=${uuid}, toolu_${randomLetters(22)} call_${randomLetters(24)}`],
    ['an image', image],
    ['letters', `${'A'.repeat(300)} ${'AKIA'.repeat(40)}`],
    [
      'class names',
      'sk-toggleable__content sk-estimator-doc-link sk-loading-spinner-container-2 task-1a2B3c4D5e6F7g',
    ],
    [
      'names with a prefix',
      'npm_config_registry hf_hub_download ghp_token github_pat_name xoxb-your-token AIzaSy',
    ],
    [
      'headers that tell of one',
      'Authorization: Bearer <token>, Bearer YOUR_TOKEN_HERE, authorization: required',
    ],
    ['public keys', pem('PUBLIC KEY', pemLines) + pem('CERTIFICATE', pemLines)],
    ['a key that is not there', pem('PRIVATE KEY', ['...'])],
    ['code about keys', `if (text.startsWith('${pem('PRIVATE KEY', []).slice(0, 27)}')) return parse(text)`],
    ['dots', `eyJ.eyJ.eyJ a.b.c eyJhbGciOiJIUzI1NiJ9`],
    ['operators', 'token::Token2a3B4c password != abc1D2e3F4 secret::<T1a2B3c4>()'],
    ['what was redacted before', 'password=[redacted password] https://u:[redacted url-password]@h'],
  ])('leaves %s alone', (_, text) => {
    expect(redactSecrets(text)).toEqual({ text, found: [] });
  });
});

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
