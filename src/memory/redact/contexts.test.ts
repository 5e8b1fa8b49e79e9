import { describe, expect, it } from 'vitest';
import { pem, pemLines, randomLetters, tokenSamples } from '../../../test/support/secrets.ts';
import { secretNames } from './assignment.ts';
import { redactSecrets } from './redact-secrets.ts';

const random = randomLetters(24);

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
    ['a hash of a password', `password: $2b$10$${random}`, 'password: [redacted password-hash]'],
    [
      '/etc/shadow',
      `root:$6$${random}$${randomLetters(60)}:19000:0:`,
      'root:[redacted password-hash]:19000:0:',
    ],
    ['a password in .env', 'DB_PASS=hunter2\n', 'DB_PASS=[redacted password]\n'],
    ['a password of letters alone', 'SMTP_PWD=kzvTrszUrjxs\n', 'SMTP_PWD=[redacted password]\n'],
    ['a password in JSON', '{"password":"admin123"}', '{"password":"[redacted password]"}'],
    ['JSON over two lines', `{"api_key":\n  "${random}"}`, '{"api_key":\n  "[redacted api-key]"}'],
    ['TOML', `token = "${random}"`, 'token = "[redacted token]"'],
    ['XML', '<password>hunter2</password>', '<password>[redacted password]</password>'],
    [
      'a name and its value',
      `- name: DB_PASSWORD\n  value: ${random}\n`,
      '- name: DB_PASSWORD\n  value: [redacted password]\n',
    ],
    [
      'a name and its value in JSON',
      `{"name":"API_KEY","value":"${random}"}`,
      '{"name":"API_KEY","value":"[redacted api-key]"}',
    ],
    [
      'a connection string',
      'Server=db;Uid=sa;Pwd=hunter2;Database=x',
      'Server=db;Uid=sa;Pwd=[redacted password];Database=x',
    ],
    [
      'a signed URL',
      `https://a.example/c?sv=2022-11-02&sig=${random}%3D`,
      'https://a.example/c?sv=2022-11-02&sig=[redacted signature]',
    ],
    ['German', `Passwort: ${random}`, 'Passwort: [redacted password]'],
    ['a flag', `deploy --token ${random} --force`, 'deploy --token [redacted token] --force'],
    ['a flag with a sign', 'mysql --password=hunter2 -u x', 'mysql --password=[redacted password] -u x'],
    [
      'curl',
      'curl -sS -u admin:hunter2 https://a.example',
      'curl -sS -u admin:[redacted password] https://a.example',
    ],
    ['curl in JSON', '"curl -u \\"me:a b\\" x"', '"curl -u \\"me:[redacted password]\\" x"'],
    ['curl with quotes', "curl --user 'me:a;b c' x", "curl --user 'me:[redacted password]' x"],
    [
      'curl over two lines',
      'curl https://a.example \\\n  -u a:hunter2',
      'curl https://a.example \\\n  -u a:[redacted password]',
    ],
    ['mysql', 'mysql -u x -phunter2 db', 'mysql -u x -p[redacted password] db'],
    ['sshpass', "sshpass -p 'letmein' ssh x", "sshpass -p '[redacted password]' ssh x"],
    ['unzip', 'unzip -P s3cret! a.zip', 'unzip -P [redacted password] a.zip'],
    [
      'docker login',
      'docker login -u me -p hunter2 r.example',
      'docker login -u me -p [redacted password] r.example',
    ],
    ['.pgpass', 'localhost:5432:db:me:hunter2\n', 'localhost:5432:db:me:[redacted password]\n'],
    [
      '.netrc',
      `machine a.example login me password ${random}`,
      'machine a.example login me password [redacted password]',
    ],
    ['a sentence', `The password is ${random}.`, 'The password is [redacted password]'],
    [
      'cookies',
      `Cookie: theme=dark; session=${random}; csrf=${randomLetters(20)}\nid=${random}`,
      `Cookie: theme=dark; session=[redacted cookie]; csrf=[redacted cookie]\nid=${random}`,
    ],
    [
      'a cookie that is set',
      `Set-Cookie: sid=${random}; HttpOnly`,
      'Set-Cookie: sid=[redacted cookie]; HttpOnly',
    ],
    [
      'a cookie in JSON',
      `{"Cookie": "sid=${random}", "q": "id=${random}"}`,
      `{"Cookie": "sid=[redacted cookie]", "q": "id=${random}"}`,
    ],
    [
      'a URL with two keys',
      `https://${random}:${random}@h/1`,
      'https://[redacted url-token]:[redacted url-password]@h/1',
    ],
    ['a URL with a token alone', `https://${random}@h/a.git`, 'https://[redacted url-token]@h/a.git'],
    ['another scheme', `Authorization: token ${random}`, 'Authorization: token [redacted credentials]'],
    [
      'a wallet',
      `seed phrase: ${'legal winner thank year '.repeat(3).trim()}\nand so on`,
      'seed phrase: [redacted mnemonic]\nand so on',
    ],
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
    [
      'words',
      'Password: see the wiki. password: required, "password": "Passwort", DB_PASS=secret, password=None',
    ],
    ['wishes', 'the password is wrong, password must be longer, reset password now, password to enter2'],
    ['places', 'API_KEY=YOUR_API_KEY, "token": "***", password: xxxxxxxx1, secret="changeme123", <token>'],
    ['validation', `'password' => 'required|string|min:8', "password": "^[a-z]+$ and 1"`],
    ['verdicts', '--- PASS: TestSessionByID_2 (0.06s)\nPASS: 12, FAIL: 0, bypass=abc123de first-pass: x1'],
    ['types with numbers', 'password: Uint8Array\nsecret: X509Credential\ntoken: Base64\npassword: sha256\n'],
    [
      'conditions',
      'const apiKey = options?.apiKey2, token = !isToken2 && this.#token1.value, a = exchangeX509Token;',
    ],
    ['calls as strings', "token: `url('./icon1A2b.png')`"],
    ['working directories', 'PWD=/home/me/Project1A2b OLDPWD=/tmp/x.aB3xY9z'],
    ['other flags', 'mkdir -p a1B2c3D4 && docker run -p 8080:80 -u 1000:1000 x; curl a | tar -p a1B2c3'],
    [
      'places in commands',
      `curl -u user:password x; curl -u $USER:$PASSWORD x; curl -u "a:\${PASSWORD}" x --token $TOKEN1a`,
    ],
    ['ports', 'docker run -p 127.0.0.1:5432:5432 and localhost:5432: down'],
    ['cookies without a secret', 'Cookie: theme=dark; lang=en\nI like my cookie: a1=b2'],
    [
      'phrases',
      'The mnemonic: take the first letters of each word and say them out loud to your friends now please',
    ],
    ['prices', 'token: $0.25, secret price=12.50EUR'],
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
