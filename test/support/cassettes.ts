import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { corpusFiles, corpusPath } from './corpus.ts';

/** One recorded request with what it was answered with. */
export interface Exchange {
  /** File of the corpus and place in it. */
  readonly title: string;
  readonly url: URL;
  readonly status: number;
  readonly body: unknown;
  readonly requestHeaders: RecordedHeaders;
  /** The answer as it was, unpacked. */
  readonly answer: { readonly headers: RecordedHeaders; readonly body: string };
}

type RecordedHeaders = Readonly<Record<string, readonly string[]>>;

interface Interaction {
  readonly request: {
    readonly uri: string;
    readonly headers: RecordedHeaders;
    readonly parsed_body?: unknown;
  };
  readonly response: {
    readonly status: { readonly code: number };
    readonly headers: RecordedHeaders;
    /** Of streams. Everything else was parsed. */
    readonly body?: { readonly string: string };
    readonly parsed_body?: unknown;
  };
}

/** Every recorded HTTP exchange of the corpus that has a JSON body. */
export function recordedExchanges(): readonly Exchange[] {
  return corpusFiles()
    .filter(({ file }) => file.startsWith('api-cassettes/'))
    .flatMap(({ file }) =>
      readInteractions(corpusPath(file)).map(({ request, response }, index) => ({
        title: `${file} #${index}`,
        url: new URL(request.uri),
        status: response.status.code,
        body: request.parsed_body,
        requestHeaders: request.headers,
        answer: {
          headers: response.headers,
          body: response.body?.string ?? JSON.stringify(response.parsed_body),
        },
      })),
    )
    .filter(({ body }) => typeof body === 'object' && body !== null);
}

function readInteractions(path: string): readonly Interaction[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return (parse(text) as { interactions: readonly Interaction[] }).interactions;
}
