/** A name that says that its value is secret. */
export interface SecretName {
  /** How the name ends, in small letters and without hyphens and underscores. */
  readonly ending: string;
  readonly kind: string;
}

/** Names of secrets in assignments, headers, query strings and JSON. The first that fits wins. */
export const secretNames: readonly SecretName[] = [
  { ending: 'secretaccesskey', kind: 'aws-secret-key' },
  { ending: 'awssecretkey', kind: 'aws-secret-key' },
  { ending: 'password', kind: 'password' },
  { ending: 'passwd', kind: 'password' },
  { ending: 'passphrase', kind: 'password' },
  { ending: 'apikey', kind: 'api-key' },
  { ending: 'accesskey', kind: 'api-key' },
  { ending: 'secretkey', kind: 'secret' },
  { ending: 'privatekey', kind: 'secret' },
  { ending: 'signingkey', kind: 'secret' },
  { ending: 'encryptionkey', kind: 'secret' },
  { ending: 'accountkey', kind: 'secret' },
  { ending: 'authkey', kind: 'secret' },
  { ending: 'secret', kind: 'secret' },
  { ending: 'credential', kind: 'secret' },
  { ending: 'credentials', kind: 'secret' },
  { ending: 'token', kind: 'token' },
  { ending: 'authorization', kind: 'credentials' },
];
