import type { OptionDefinition } from '../command.ts';

/** Options of the commands over a store. */
export const storeOption: OptionDefinition = {
  flags: '--store <address>',
  help: 'a path or postgres://…; default ROUNDFOLD_STORE, or store.sqlite among your data',
};

export const tenantOption: OptionDefinition = {
  flags: '--tenant <name>',
  help: 'whose conversations; needed only where a store has several tenants',
};

export const conversationOption: OptionDefinition = {
  flags: '--conversation <id>',
  help: 'only this one; the beginning of its id is enough',
};

export const jsonOption: OptionDefinition = {
  flags: '-j, --json',
  help: 'one JSON object per line on standard output',
};

/** For help. */
export const STORE_TEXT = `The store: --store, or ROUNDFOLD_STORE, or $XDG_DATA_HOME/roundfold/store.sqlite
(below ~/.local/share when that is not set). ROUNDFOLD_STORE_SECRET opens records
that are sealed. What only reads makes no file where there is none.
`;
