import type { Migration } from './migration.ts';

/**
 * Checkpoints are told apart within their conversation, by the same index that finds the longest one: a write has one index
 * less to change. Spans are looked up by their handles first, which differ, and not by their tenants, which hardly do.
 */
export const quickerIndexes: Migration = {
  version: 3,
  statements({ name, schema }) {
    const prefix = name === 'sqlite' ? '' : `"${schema}".`;
    return [
      ...(name === 'sqlite' ? sqlite : postgres(prefix)),
      `drop index ${prefix}spans_by_handle`,
      `create index spans_by_handle on ${prefix}spans (handle, tenant, place, conversation_id)`,
    ];
  },
};

/** SQLite takes no constraint from a table that is there. */
const sqlite: readonly string[] = [
  `create table checkpoints_by_conversation (
    id integer primary key, conversation_id integer not null, tenant text not null, configuration text not null,
    link text not null, boundary integer not null, body blob not null,
    unique (conversation_id, configuration, boundary, link)
  )`,
  `insert into checkpoints_by_conversation (id, conversation_id, tenant, configuration, link, boundary, body)
    select id, conversation_id, tenant, configuration, link, boundary, body from checkpoints order by id`,
  'drop table checkpoints',
  'alter table checkpoints_by_conversation rename to checkpoints',
];

function postgres(prefix: string): readonly string[] {
  return [
    `alter table ${prefix}checkpoints
      drop constraint checkpoints_tenant_configuration_link_key,
      add unique (conversation_id, configuration, boundary, link)`,
    `drop index ${prefix}checkpoints_by_boundary`,
  ];
}
