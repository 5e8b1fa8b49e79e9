const SECRET_HEADER = /authorization|key|token|secret|cookie/i;
/** Shorter values are no keys, and hiding them would only make a message unreadable. */
const SHORTEST_SECRET = 6;

/** The values among these headers that must not be shown, longest first. */
export function secretsOf(headers: Headers): readonly string[] {
  const values: string[] = [];
  for (const [name, value] of headers) {
    if (SECRET_HEADER.test(name)) values.push(value, value.slice(value.indexOf(' ') + 1));
  }
  return values
    .filter((value) => value.length >= SHORTEST_SECRET)
    .sort((left, right) => right.length - left.length);
}

/** The text with every secret in it replaced. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
}
