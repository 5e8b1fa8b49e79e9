/** The pieces: each knows `core` and none of its siblings. */
const pieces = [
  'formats',
  'transcripts',
  'models',
  'strategies',
  'decorators',
  'summarizers',
  'redact',
  'economics',
  'stores',
];

/** Which folders of `src` a folder may import from, besides itself. This is the one place that says it. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  core: [],
  contracts: [],
  memory: ['core'],
  ...Object.fromEntries(pieces.map((piece) => [piece, ['core']])),
  summarizers: ['core', 'memory'],
  strategies: ['core', 'memory'],
  decorators: ['core', 'memory'],
  testing: ['core', 'formats', 'transcripts'],
  config: ['core', 'memory', 'contracts', ...pieces],
  simulator: ['core', 'contracts', 'formats', 'models', 'config'],
  report: ['core', 'memory', 'contracts', ...pieces, 'config'],
  lab: ['core', 'memory', 'contracts', ...pieces, 'config'],
  integrations: ['core', 'formats', 'config'],
  chat: ['core', 'memory', ...pieces, 'config', 'report'],
  cli: ['core', 'memory', 'contracts', ...pieces, 'config', 'report', 'simulator', 'lab', 'chat'],
};

/** Which third-party packages a folder may use. Whoever is not listed may use none. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  cli: ['commander', '@bomb.sh/tab', '@modelcontextprotocol/server', 'zod'],
  models: ['gpt-tokenizer'],
  stores: ['kysely', 'pg', 'xxhash-wasm'],
};

/** Folders that may use Node's own modules. The rest runs anywhere. */
export const nodeFolders: readonly string[] = ['transcripts', 'stores', 'config', 'simulator', 'chat', 'cli'];
