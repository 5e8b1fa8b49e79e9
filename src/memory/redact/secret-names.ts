/** A name that says that its value is secret. */
export interface SecretName {
  /** How the name ends, in small letters and without hyphens and underscores. */
  readonly ending: string;
  readonly kind: string;
  /** Longer words end like it (`bypass`, `config`): it has to be a word of the name by itself. */
  readonly isWord?: true;
}

/** Names of secrets in assignments, headers, query strings, flags, JSON and XML. The first that fits wins. */
export const secretNames: readonly SecretName[] = [
  { ending: 'secretaccesskey', kind: 'aws-secret-key' },
  { ending: 'awssecretkey', kind: 'aws-secret-key' },
  { ending: 'password', kind: 'password' },
  { ending: 'passwd', kind: 'password' },
  { ending: 'passphrase', kind: 'password' },
  { ending: 'passcode', kind: 'password' },
  { ending: 'passwort', kind: 'password' },
  { ending: 'kennwort', kind: 'password' },
  { ending: 'motdepasse', kind: 'password' },
  { ending: 'contrasena', kind: 'password' },
  { ending: 'senha', kind: 'password', isWord: true },
  { ending: 'pass', kind: 'password', isWord: true },
  { ending: 'pwd', kind: 'password', isWord: true },
  { ending: 'apikey', kind: 'api-key' },
  { ending: 'appkey', kind: 'api-key' },
  { ending: 'applicationkey', kind: 'api-key' },
  { ending: 'licensekey', kind: 'api-key' },
  { ending: 'accesskey', kind: 'api-key' },
  { ending: 'secretkey', kind: 'secret' },
  { ending: 'secretkeybase', kind: 'secret' },
  { ending: 'privatekey', kind: 'secret' },
  { ending: 'signingkey', kind: 'secret' },
  { ending: 'encryptionkey', kind: 'secret' },
  { ending: 'accountkey', kind: 'secret' },
  { ending: 'storagekey', kind: 'secret' },
  { ending: 'sharedkey', kind: 'secret' },
  { ending: 'masterkey', kind: 'secret' },
  { ending: 'rolekey', kind: 'secret' },
  { ending: 'authkey', kind: 'secret' },
  { ending: 'secret', kind: 'secret' },
  { ending: 'credential', kind: 'secret' },
  { ending: 'credentials', kind: 'secret' },
  { ending: 'sig', kind: 'signature', isWord: true },
  { ending: 'amzsignature', kind: 'signature' },
  { ending: 'token', kind: 'token' },
  { ending: 'jwt', kind: 'token', isWord: true },
  { ending: 'auth', kind: 'credentials', isWord: true },
  { ending: 'authorization', kind: 'credentials' },
];

/** The last letters of all names: most names end with another and need no look. */
export const lastLettersOfNames: ReadonlySet<string> = new Set(
  secretNames.flatMap(({ ending }) => [ending.slice(-1), ending.slice(-1).toUpperCase()]),
);

/** What is secret under a name as it is written, such as `DB_PASSWORD`, `dbPassword` or `X-Api-Key`. */
export function kindUnder(name: string): string | undefined {
  const plain = name.replaceAll(/[-_]/g, '').toLowerCase();
  return secretNames.find(
    ({ ending, isWord }) => plain.endsWith(ending) && (isWord !== true || endsWithWord(name, ending.length)),
  )?.kind;
}

const WORD = /^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)$/;

/** Whether a word of this length ends the name: nothing, a hyphen, an underscore or a change to a capital is before it. */
function endsWithWord(name: string, length: number): boolean {
  const start = name.length - length;
  if (!WORD.test(name.slice(start))) return false;
  return !/[a-zA-Z]/.test(name.charAt(start - 1)) || /^[a-z][A-Z]$/.test(name.slice(start - 1, start + 1));
}
