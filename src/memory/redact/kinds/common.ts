import { cryptHash, headerToken, wordAndHyphen } from '../scan.ts';
import { optional, run, type TokenKind } from '../token.ts';

/** What belongs to no vendor. Formats: RFC 7519 (JWT), RFC 6750 (bearer), crypt(5) and the PHC string format (hashes). */
export const commonKinds: readonly TokenKind[] = [
  // Three segments when signed, five when encrypted. The first is JSON, and so begins with `{"`.
  {
    kind: 'jwt',
    prefixes: ['eyJ'],
    parts: [
      run(wordAndHyphen, 12),
      run(wordAndHyphen, 4),
      run(wordAndHyphen, 16),
      optional(wordAndHyphen),
      optional(wordAndHyphen),
    ],
  },
  {
    kind: 'bearer-token',
    prefixes: ['Bearer ', 'bearer ', 'BEARER '],
    parts: [run(headerToken, 16)],
    mustLookRandom: true,
    keepsPrefix: true,
  },
  {
    kind: 'password-hash',
    prefixes: [
      '$1$',
      '$5$',
      '$6$',
      '$y$',
      '$2a$',
      '$2b$',
      '$2y$',
      '$apr1$',
      '$argon2i$',
      '$argon2id$',
      '$scrypt$',
    ],
    parts: [run(cryptHash, 24)],
    mustLookRandom: true,
  },
];
