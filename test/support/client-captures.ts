import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { corpusFolder } from './corpus.ts';

/** Folder of requests that agent clients have sent, kept beside the corpus; undefined where it is not there. */
const capturesFolder: string | undefined = [
  resolve(corpusFolder ?? '', '../clients/captures'),
  resolve(import.meta.dirname, '../../../shared/clients/captures'),
].find((folder) => existsSync(join(folder, 'index.json')));

/** Said by every test that cannot run without them. */
export const capturesAreMissing =
  'no captured requests of clients here (kept beside the folder ROUNDFOLD_CORPUS names)';

/** One request as a client sent it. Names of headers are in lower case. */
export interface CapturedRequest {
  readonly file: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Every captured request; none where they are missing. */
export function capturedRequests(): readonly CapturedRequest[] {
  if (capturesFolder === undefined) return [];
  const index = readJson(capturesFolder, 'index.json') as readonly Omit<CapturedRequest, 'body'>[];
  return index.map((entry) => ({ ...entry, body: readJson(capturesFolder, entry.file) }));
}

function readJson(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}
