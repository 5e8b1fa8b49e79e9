/** Headers as they came off the wire: names and values in turn, in their order and spelling. */
export type RawHeaders = readonly string[];

/** Headers of our own in requests: they are for the proxy and go no further. */
export const BYPASS_HEADER = 'x-roundfold-bypass';
export const TOKEN_HEADER = 'x-roundfold-token';

/** What belongs to one connection and not to the message (RFC 9110, 7.6.1), and what the next connection says by itself. */
const CONNECTION_HEADERS: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/** The value of a header; several ones joined with commas. Undefined when it is not there. */
export function headerOf(headers: RawHeaders, name: string): string | undefined {
  let found: string | undefined;
  for (const [each, value] of pairsOf(headers))
    if (each.toLowerCase() === name) found = found === undefined ? value : `${found}, ${value}`;
  return found;
}

/** Names and values as pairs. */
export function pairsOf(headers: RawHeaders): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2)
    pairs.push([headers[index] ?? '', headers[index + 1] ?? '']);
  return pairs;
}

/** The headers without those of that name, in lower case. */
export function withoutHeaders(headers: RawHeaders, names: ReadonlySet<string>): RawHeaders {
  return pairsOf(headers)
    .filter(([name]) => !names.has(name.toLowerCase()))
    .flat();
}

/** What a request is sent on with: everything that is not about the connection, not ours, and not the name of our host. */
export function forwardedHeaders(headers: RawHeaders): RawHeaders {
  const left = [...connectionHeaders(headers), 'host', 'expect', 'trailer', BYPASS_HEADER, TOKEN_HEADER];
  return withoutHeaders(headers, new Set(left));
}

/** What an answer is passed on with. Trailers can only follow a body in chunks. */
export function answerHeaders(headers: RawHeaders): RawHeaders {
  const hasLength = headerOf(headers, 'content-length') !== undefined;
  const left = [...connectionHeaders(headers), ...(hasLength ? ['trailer'] : [])];
  return withoutHeaders(headers, new Set(left));
}

/** The headers of a body that was written anew: in plain JSON, of another length, and with no checksum of the old one. */
export function rewrittenHeaders(headers: RawHeaders, length: number): RawHeaders {
  const pairs = pairsOf(headers).filter(([name]) => !CHANGED_WITH_BODY.has(name.toLowerCase()));
  return [...pairs.flat(), 'content-length', String(length)];
}

const CHANGED_WITH_BODY = new Set([
  'content-encoding',
  'content-length',
  'content-md5',
  'digest',
  'content-digest',
]);

/** `Connection` names further ones. */
function connectionHeaders(headers: RawHeaders): readonly string[] {
  const named = (headerOf(headers, 'connection') ?? '').split(',').map((name) => name.trim().toLowerCase());
  return [...CONNECTION_HEADERS, ...named];
}
