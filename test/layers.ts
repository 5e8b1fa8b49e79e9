/**
 * The rooms of `src`, in order: a room may import from the rooms before it and from none behind it. This is the one place that
 * says it.
 */
export const rooms: readonly string[] = [
  'contracts',
  'conversation',
  'formats',
  'tokens',
  'memory',
  'compaction',
  'stores',
  'keeper',
  'providers',
  'transcripts',
  'simulator',
  'lab',
  'integrations',
  'report',
  'proxy',
  'chat',
  'cli',
];

/** Rooms that import nothing at all: they judge the rest, and a mistake must not acquit itself. */
export const apart: readonly string[] = ['contracts'];

/** Which third-party packages a room may use. Whoever is not listed may use none. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  cli: ['commander', '@bomb.sh/tab', '@modelcontextprotocol/server', 'zod'],
  tokens: ['gpt-tokenizer'],
  proxy: ['undici', 'zod', '@opentelemetry/api'],
  stores: ['pg'],
};

/** Rooms that may use Node's own modules. The rest runs anywhere. */
export const nodeRooms: readonly string[] = [
  'stores',
  'transcripts',
  'simulator',
  'lab',
  'integrations',
  'proxy',
  'chat',
  'cli',
];
