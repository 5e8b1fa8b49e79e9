/**
 * roundfold/transcripts: conversations in files. Session files of agents, request bodies, lists of messages and logs, of any size.
 * @module
 */
export type { RecordedCharge } from './charges.ts';
export type { BadInput } from './input/json-values.ts';
export { type ByteSource, fileSource } from './input/source.ts';
export { type Recording, type RecordingOptions, readRecordings } from './recordings.ts';
export type { Origin, RecordedCompaction, Segment, SessionFacts, Transcript } from './transcript.ts';
