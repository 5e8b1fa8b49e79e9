import type { Migration } from './migration.ts';

/** Finds what a conversation has without reading it: the index tells boundaries and links. */
export const checkpointsByBoundary: Migration = {
  version: 2,
  statements({ name, schema }) {
    const prefix = name === 'sqlite' ? '' : `"${schema}".`;
    return [
      `drop index ${prefix}checkpoints_of_conversation`,
      `create index checkpoints_by_boundary on ${prefix}checkpoints (conversation_id, configuration, boundary, link)`,
    ];
  },
};
