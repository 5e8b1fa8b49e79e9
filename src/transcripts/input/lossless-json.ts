/** What Node 22 and later offer and the standard library types do not name yet. */
interface SourceTextJson {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

// The types lag behind the engine: `JSON.rawJSON` and the reviver's third argument exist from Node 22 on.
const sourceTextJson = JSON as unknown as SourceTextJson;

/**
 * Finds every text that may hold a number a double cannot keep: 16 digits in a row, or an exponent of three digits, where a
 * number can begin. It also finds some that hold none. A run of digits is visited from its first digit only, so it is linear.
 */
const mayHoldWideNumber = /(?:^|[\s:,[])-?(?:\d{16}|\d+(?:\.\d+)?[eE]\+?\d{3})/;

const integer = /^-?\d+$/;

/**
 * `JSON.parse` that keeps the digits of every integer beyond ±2^53 and of every number that overflows: those come as
 * `JSON.rawJSON` objects, which `JSON.stringify` writes back as they were. All other values are what `JSON.parse` gives.
 *
 * A raw number does not survive `structuredClone`; tell it apart with `JSON.isRawJSON`.
 *
 * Throws what `JSON.parse` throws, and a `RangeError` when such a number stands in a text nested several thousand levels deep.
 */
export function parseJson(text: string): unknown {
  if (!mayHoldWideNumber.test(text)) return JSON.parse(text);
  return sourceTextJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && losesDigits(value, source)
      ? sourceTextJson.rawJSON(source)
      : value,
  );
}

function losesDigits(value: number, source: string): boolean {
  if (Number.isSafeInteger(value)) return false;
  return Number.isFinite(value) ? integer.test(source) && String(value) !== source : true;
}
