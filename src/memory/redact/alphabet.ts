/** A set of characters, told by their code units. */
export interface Alphabet {
  /** 1 at the index of every ASCII character that belongs to it. */
  readonly ascii: Uint8Array;
  /** Whether everything beyond ASCII belongs to it, lone surrogates included. */
  readonly hasOthers: boolean;
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const LETTERS_AND_DIGITS = UPPER + LOWER + DIGITS;

export const digits = alphabetOf(DIGITS);
export const hex = alphabetOf(`${DIGITS}abcdefABCDEF`);
export const hexAndHyphen = alphabetOf(`${DIGITS}abcdefABCDEF-`);
export const upperAndDigits = alphabetOf(UPPER + DIGITS);
export const lettersAndDigits = alphabetOf(LETTERS_AND_DIGITS);
export const word = alphabetOf(`${LETTERS_AND_DIGITS}_`);
export const wordAndHyphen = alphabetOf(`${LETTERS_AND_DIGITS}_-`);
export const wordAndDot = alphabetOf(`${LETTERS_AND_DIGITS}_-.`);
export const base64 = alphabetOf(`${LETTERS_AND_DIGITS}+/=`);
export const base64AndWord = alphabetOf(`${LETTERS_AND_DIGITS}+/=_-,`);
/** What a credential in an HTTP header is made of (`token68` in RFC 9110). */
export const headerToken = alphabetOf(`${LETTERS_AND_DIGITS}-._~+/=`);
/** What may stand in a URL without an escape (RFC 3986). */
export const unreserved = alphabetOf(`${LETTERS_AND_DIGITS}-._~`);
/** The path of a webhook; Teams puts a tenant behind `@` into it. */
export const urlPath = alphabetOf(`${LETTERS_AND_DIGITS}_-/@`);
/** Fields of a hashed password and what parts them (`crypt(5)`, the PHC string format). */
export const cryptHash = alphabetOf(`${LETTERS_AND_DIGITS}./$,=+-`);

/** Exactly these ASCII characters. */
function alphabetOf(members: string): Alphabet {
  const ascii = new Uint8Array(128);
  for (const member of members) ascii[member.charCodeAt(0)] = 1;
  return { ascii, hasOthers: false };
}

/** Every character but these, control characters and spaces. */
export function everythingBut(members: string): Alphabet {
  const ascii = new Uint8Array(128).fill(1, 33, 127);
  for (const member of members) ascii[member.charCodeAt(0)] = 0;
  return { ascii, hasOthers: true };
}

/** Whether the code unit belongs to the alphabet. NaN, which stands beyond the end of a text, belongs to none. */
export function holds({ ascii, hasOthers }: Alphabet, code: number): boolean {
  return code < 128 ? ascii[code] === 1 : hasOthers && code >= 128;
}
