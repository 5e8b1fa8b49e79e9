import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpusFolder } from './corpus.ts';

const folder = join(corpusFolder ?? '', '../clients/captures');

/** A request that a real client has sent. */
export interface Capture {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Requests that were captured from real clients, kept beside the recorded conversations; none where they are not there. */
export function captures(): readonly Capture[] {
  if (corpusFolder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .map((file) => ({
      name: file.replace(/\.json$/, ''),
      body: JSON.parse(readFileSync(join(folder, file), 'utf8')) as Capture['body'],
    }));
}
