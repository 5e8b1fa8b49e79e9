import { existsSync, readFileSync } from 'node:fs';
import { looksHeldOut } from './held-out.ts';
import { gunzip, readPlain } from './readers.ts';
import { transcriptFolder } from './sources.ts';
import { listFiles } from './walk.ts';

/** A text out of a recorded conversation, with the file it came from. */
export interface TranscriptText {
  readonly file: string;
  readonly text: string;
}

// Recordings of work on Python projects: that kind is held out whole.
const heldOutRecordings = /django|marshmallow/;

// Opaque values that no reader of a conversation ever counts as text.
const opaqueKeys = new Set(['signature', 'encrypted_content', 'data', 'thoughtSignature', 'toolUseResult']);

/** Every text of the recorded conversations that is fit to learn from; empty when there are none here. */
export function readTranscriptTexts(minimumChars: number): readonly TranscriptText[] {
  if (!existsSync(transcriptFolder)) return [];
  const seen = new Set<string>();
  const texts: TranscriptText[] = [];
  for (const file of listFiles(transcriptFolder, /\.jsonl?(?:\.gz)?$/)) {
    if (heldOutRecordings.test(file.path) || file.path.endsWith('/index.jsonl')) continue;
    const source = readPlain(gunzip(readFileSync(file.absolute))) ?? '';
    for (const text of stringsOf(source)) {
      if (text.length < minimumChars || seen.has(text) || looksHeldOut(text)) continue;
      seen.add(text);
      texts.push({ file: file.path, text });
    }
  }
  return texts;
}

function stringsOf(source: string): readonly string[] {
  const found: string[] = [];
  for (const value of jsonValues(source)) collectStrings(value, 0, found);
  return found;
}

function jsonValues(source: string): readonly unknown[] {
  try {
    return [JSON.parse(source)];
  } catch {
    return source.split('\n').flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
  }
}

function collectStrings(value: unknown, depth: number, found: string[]): void {
  if (typeof value === 'string') found.push(value);
  if (typeof value !== 'object' || value === null || depth > 24) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!opaqueKeys.has(key)) collectStrings(inner, depth + 1, found);
  }
}
