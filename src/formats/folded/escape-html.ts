/** What Open WebUI writes in the place of characters that mean something in markup, and how others write the same. */
const REFERENCES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#34;', '"'],
  ['&#x27;', "'"],
  ['&#39;', "'"],
  ['&apos;', "'"],
]);

const ESCAPES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#x27;'],
]);

/** Text that may stand between double quotes in a tag. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES.get(character) ?? character);
}

/** The text that was escaped. References that nobody writes here stay as they are. */
export function unescapeHtml(text: string): string {
  return text.replaceAll(
    /&(?:amp|lt|gt|quot|apos|#34|#39|#x27);/g,
    (reference) => REFERENCES.get(reference) ?? reference,
  );
}
