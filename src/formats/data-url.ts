/** The base64 part of a `data:` URL, or undefined for every other URL. */
export function dataOfUrl(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith('data:')) return undefined;
  // The header is short; looking further would scan the whole payload of a URL without a comma.
  const comma = url.slice(0, 256).indexOf(',');
  return comma === -1 ? undefined : url.slice(comma + 1);
}
