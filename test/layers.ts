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

/** Which folders of `src` a folder may import from, besides itself. The linter's rules say the same. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  core: [],
  contracts: [],
  ...Object.fromEntries(pieces.map((piece) => [piece, ['core']])),
  testing: ['core', 'formats', 'transcripts'],
  config: ['core', 'contracts', ...pieces],
  simulator: ['core', 'contracts', 'formats', 'models', 'config'],
  report: ['core', 'contracts', ...pieces, 'config'],
  lab: ['core', 'contracts', ...pieces, 'config'],
  integrations: ['core', 'formats', 'config'],
  chat: ['core', ...pieces, 'config', 'report'],
  cli: ['core', 'contracts', ...pieces, 'config', 'report', 'simulator', 'lab', 'chat'],
};

/** Which third-party packages a folder may use. Whoever is not listed may use none. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  cli: ['commander', '@bomb.sh/tab', '@modelcontextprotocol/server', 'zod'],
  models: ['gpt-tokenizer'],
  stores: ['kysely', 'pg', 'xxhash-wasm'],
};

/** Folders that may use Node's own modules. The rest runs anywhere. */
export const nodeFolders: readonly string[] = ['transcripts', 'stores', 'config', 'simulator', 'chat', 'cli'];
