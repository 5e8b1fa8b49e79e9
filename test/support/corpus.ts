import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Folder of recorded conversations, kept beside the project; undefined where it is not there. */
export const corpusFolder: string | undefined = [
  process.env['ROUNDFOLD_CORPUS'],
  resolve(import.meta.dirname, '../../../shared/corpus'),
].find((folder) => folder !== undefined && existsSync(join(folder, 'index.jsonl')));

/** Folder of requests that real clients sent, kept beside the corpus; undefined where it is not there. */
export const capturesFolder: string | undefined = [
  corpusFolder === undefined ? undefined : resolve(corpusFolder, '../clients/captures'),
].find((folder) => folder !== undefined && existsSync(join(folder, 'index.json')));

/** Said by every test that cannot run without it. */
export const corpusIsMissing = 'no corpus of recorded conversations here (ROUNDFOLD_CORPUS names its folder)';

/** What the corpus' own index says about one of its files. */
export interface CorpusFile {
  readonly file: string;
  readonly format: string;
  readonly conversations: readonly {
    readonly unanswered_calls?: number;
    readonly orphan_results?: number;
    readonly tool_calls?: number;
    readonly compactions?: number;
  }[];
}

/** Every file of the corpus. */
export function corpusFiles(): readonly CorpusFile[] {
  if (corpusFolder === undefined) return [];
  const lines = readFileSync(join(corpusFolder, 'index.jsonl'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as CorpusFile);
}

/** The path of a file of the corpus. */
export function corpusPath(file: string): string {
  return join(corpusFolder ?? '', file);
}
