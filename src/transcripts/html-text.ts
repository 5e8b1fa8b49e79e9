/** Named references that appear in escaped attributes. Others stay as they are. */
const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
]);

const LAST_CODE_POINT = 0x10ffff;

/** Text with its character references resolved: `&quot;`, `&#39;`, `&#x27;`. Unknown references stay as they are. */
export function unescapeHtml(text: string): string {
  return text.replaceAll(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi,
    (reference, hex, decimal, name) => {
      if (typeof name === 'string') return named.get(name) ?? reference;
      const codePoint = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal);
      return codePoint <= LAST_CODE_POINT ? String.fromCodePoint(codePoint) : reference;
    },
  );
}
