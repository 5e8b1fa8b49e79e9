import { initial } from './0001-initial.ts';
import { checkpointsByBoundary } from './0002-checkpoints-by-boundary.ts';
import { quickerIndexes } from './0003-quicker-indexes.ts';
import type { Migration } from './migration.ts';

/** Every version of the tables, the oldest first. */
export const migrations: readonly Migration[] = [initial, checkpointsByBoundary, quickerIndexes];
