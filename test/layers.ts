/** Which folders of `src` a folder may import from, besides itself. The linter's rules say the same. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  core: [],
  contracts: [],
  formats: ['core'],
  transcripts: ['core'],
  models: ['core'],
  strategies: ['core'],
  decorators: ['core'],
  summarizers: ['core'],
  redact: ['core'],
  testing: ['core', 'formats', 'transcripts'],
  config: [
    'core',
    'contracts',
    'formats',
    'transcripts',
    'models',
    'strategies',
    'decorators',
    'summarizers',
    'redact',
  ],
  simulator: ['core', 'contracts', 'formats', 'models', 'config'],
  report: [
    'core',
    'contracts',
    'formats',
    'transcripts',
    'models',
    'strategies',
    'decorators',
    'summarizers',
    'redact',
    'config',
  ],
  cli: [
    'core',
    'contracts',
    'formats',
    'transcripts',
    'models',
    'strategies',
    'decorators',
    'summarizers',
    'redact',
    'config',
    'report',
    'simulator',
  ],
};

/** Which third-party packages a folder may use. Whoever is not listed may use none. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  cli: ['commander', '@bomb.sh/tab'],
  models: ['gpt-tokenizer'],
};

/** Folders that may use Node's own modules. The rest runs anywhere. */
export const nodeFolders: readonly string[] = ['transcripts', 'config', 'simulator', 'cli'];
