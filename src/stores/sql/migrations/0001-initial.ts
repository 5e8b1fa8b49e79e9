import type { Migration } from './migration.ts';

/** Conversations, checkpoints, spans with their words, and leases. */
export const initial: Migration = {
  version: 1,
  statements: ({ name, schema }) => (name === 'sqlite' ? sqlite : postgres(`"${schema}".`)),
};

const sqlite: readonly string[] = [
  `create table conversations (
    id integer primary key,
    tenant text not null,
    conversation text not null,
    created_at integer not null,
    used_at integer not null,
    forgotten_fence integer not null,
    unique (tenant, conversation)
  )`,
  `create table checkpoints (
    id integer primary key,
    conversation_id integer not null,
    tenant text not null,
    configuration text not null,
    link text not null,
    boundary integer not null,
    body blob not null,
    unique (tenant, configuration, link)
  )`,
  'create index checkpoints_of_conversation on checkpoints (conversation_id)',
  `create table spans (
    id integer primary key,
    conversation_id integer not null,
    tenant text not null,
    handle text not null,
    place integer not null,
    body blob not null,
    unique (conversation_id, handle, place)
  )`,
  'create index spans_by_handle on spans (tenant, handle, place, conversation_id)',
  // Words come separated by blanks; the underscore is for what we add, and no word has one.
  `create virtual table span_words using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
  )`,
  `create table leases (
    tenant text not null,
    lease_key text not null,
    owner text not null,
    fence integer not null,
    taken_at integer not null,
    expires_at integer not null,
    primary key (tenant, lease_key)
  ) without rowid`,
  'create table counters (fence integer not null)',
  'insert into counters (fence) values (0)',
];

/** The collation compares bytes, as SQLite does. */
function postgres(prefix: string): readonly string[] {
  return [
    `create table ${prefix}conversations (
      id bigint generated always as identity primary key,
      tenant text collate "C" not null,
      conversation text collate "C" not null,
      created_at bigint not null,
      used_at bigint not null,
      forgotten_fence bigint not null,
      unique (tenant, conversation)
    )`,
    `create table ${prefix}checkpoints (
      id bigint generated always as identity primary key,
      conversation_id bigint not null,
      tenant text collate "C" not null,
      configuration text collate "C" not null,
      link text collate "C" not null,
      boundary bigint not null,
      body bytea not null,
      unique (tenant, configuration, link)
    )`,
    `create index checkpoints_of_conversation on ${prefix}checkpoints (conversation_id)`,
    `create table ${prefix}spans (
      id bigint generated always as identity primary key,
      conversation_id bigint not null,
      tenant text collate "C" not null,
      handle text collate "C" not null,
      place bigint not null,
      body bytea not null,
      unique (conversation_id, handle, place)
    )`,
    `create index spans_by_handle on ${prefix}spans (tenant, handle, place, conversation_id)`,
    `create table ${prefix}span_words (rowid bigint primary key, words tsvector not null)`,
    `create index span_words_index on ${prefix}span_words using gin (words)`,
    `create table ${prefix}leases (
      tenant text collate "C" not null,
      lease_key text collate "C" not null,
      owner text not null,
      fence bigint not null,
      taken_at bigint not null,
      expires_at bigint not null,
      primary key (tenant, lease_key)
    )`,
    `create sequence ${prefix}fences as bigint`,
  ];
}
