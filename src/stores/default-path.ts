import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where the store is when nobody says: `$XDG_DATA_HOME/roundfold/store.sqlite`, or below `~/.local/share`. */
export function defaultStorePath(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const data = env['XDG_DATA_HOME'];
  // The specification says to ignore paths that are relative.
  const base =
    data !== undefined && isAbsolute(data) ? data : join(env['HOME'] ?? homedir(), '.local', 'share');
  return join(base, 'roundfold', 'store.sqlite');
}
