import type { StoreRecord } from '../../stores/store.ts';
import type { ByteSource } from '../../transcripts/input/source.ts';
import { byteLines } from './byte-lines.ts';
import { createExportReader, type LineFault, type RecordCounts } from './export-lines.ts';

/** A line that is not what was exported. Never holds content. */
export interface DamagedLine {
  readonly fault: LineFault;
  readonly line: number;
  readonly message: string;
  readonly remedy: string;
}

type Found = DamagedLine | { readonly record: StoreRecord } | { readonly counts: RecordCounts };

const COPY = 'Use another copy of the export.';

const messages: Readonly<Record<LineFault, readonly [message: string, remedy: string]>> = {
  'not-an-export': ['this is no export of a store', 'Give a file that `roundfold store export` wrote.'],
  'newer-version': ['the export was written by a newer version of roundfold', 'Update roundfold.'],
  damaged: ['the line is damaged', COPY],
  malformed: ['the line holds no record of a store', COPY],
  incomplete: ['lines are missing, or not in their order', COPY],
  'behind-the-end': ['there is more behind the end of the export', 'Import one export at a time.'],
};

/** Lines after which nothing can be read. */
const LAST: ReadonlySet<LineFault> = new Set(['not-an-export', 'newer-version', 'behind-the-end']);

/** Reads an export: its records, with damaged lines in their places, then how many records there were. */
export async function* readExport(source: ByteSource): AsyncGenerator<Found> {
  const { admitRecords } = await import('../../stores/records.ts');
  const reader = createExportReader((record) => isAdmitted(() => admitRecords([record])));
  let line = 0;
  let isDamaged = false;
  for await (const bytes of byteLines(source.open())) {
    line++;
    const found = reader.read(bytes);
    // What is damaged is missing as well: once is enough.
    if (found === undefined || (found === 'incomplete' && isDamaged)) continue;
    if (typeof found !== 'string') {
      yield { record: found };
      continue;
    }
    isDamaged = true;
    yield damagedLine(found, line);
    if (LAST.has(found)) return;
  }
  if (!reader.isComplete && !isDamaged)
    yield damagedLine(line === 0 ? 'not-an-export' : 'incomplete', line + 1);
  yield { counts: reader.counts };
}

function damagedLine(fault: LineFault, line: number): DamagedLine {
  const [message, remedy] = messages[fault];
  return { fault, line, message, remedy };
}

function isAdmitted(admit: () => void): boolean {
  try {
    admit();
    return true;
  } catch {
    return false;
  }
}
