import type { RecordedCompaction, Segment } from '../transcript.ts';
import type { Entry } from './entries.ts';
import type { Surroundings } from './surroundings.ts';

/** Writes the entries of a session in one wire format. */
export interface Wire<Piece> {
  readonly format: string;
  /** The pieces of the conversation that an entry becomes; none for what is not sent. Asked once for every entry. */
  write(entry: Entry): readonly Piece[];
  segment(pieces: SegmentPieces<Piece>, surroundings: Surroundings): Segment;
}

/** The pieces of a segment: what its compaction put at the head, and what came later. */
export interface SegmentPieces<Piece> {
  readonly compaction?: Omit<RecordedCompaction, 'carried'> | undefined;
  readonly carried: readonly Piece[];
  readonly later: readonly Piece[];
}
