import { describe, expect, it, vi } from 'vitest';
import { bodyOf, foldRecords, foldTranscript } from '../../../test/support/fold-records.ts';
import type { Format } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import type * as registry from '../../formats/registry.ts';
import { createJsonReader } from './reader.ts';

/** A line of the registry that is not written yet: a key of its own, and messages without a role or a type. */
vi.mock(import('../../formats/registry.ts'), async (importOriginal) => {
  const original: typeof registry = await importOriginal();
  const [model] = original.formats;
  const guestBook: Format = { ...model!, name: 'guest-book', listKey: 'lines', recognise };
  return { ...original, formats: [...original.formats, guestBook] };
});

function recognise(value: unknown) {
  const lines = isObject(value) ? value['lines'] : value;
  return Array.isArray(lines) && lines.every((line) => isObject(line) && 'says' in line) ? 'certain' : 'no';
}

const reader = createJsonReader((value) => (recognise(value) === 'certain' ? 'guest-book' : undefined));
const lines = [
  { by: 'guest', says: 'Hello' },
  { by: 'host', says: 'Welcome' },
];

describe('a format that was added to the registry', () => {
  it('has its bodies found under its own key', () => {
    const body = { lines };
    const transcript = foldTranscript(reader, [body]);

    expect(transcript.format).toBe('guest-book');
    expect(bodyOf(transcript)).toBe(body);
    expect(transcript.segments[0]?.origins.map(({ place }) => place.path)).toEqual(['lines.0', 'lines.1']);
  });

  it('has its bodies found in log records', () => {
    expect(bodyOf(foldTranscript(reader, [{ request: { lines }, response: {} }]))).toEqual({ lines });
  });

  it('has messages found that stand alone', () => {
    expect(bodyOf(foldTranscript(reader, lines))).toEqual(lines);
  });

  it('takes no list of other things that has its key', () => {
    expect(foldRecords(reader, [{ lines: ['Hello'] }, { lines: 2 }]).transcripts).toEqual([]);
  });
});
