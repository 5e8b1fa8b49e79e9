import type { Migration } from './migration.ts';

/** Finds the longest record of a conversation without looking at the others. */
export const checkpointsByBoundary: Migration = {
  version: 2,
  statements({ name, schema }) {
    const prefix = name === 'sqlite' ? '' : `"${schema}".`;
    return [
      `drop index ${prefix}checkpoints_of_conversation`,
      `create index checkpoints_by_boundary on ${prefix}checkpoints (conversation_id, boundary)`,
    ];
  },
};
