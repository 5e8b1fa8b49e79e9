import type { Happening } from './events.ts';

/** A folder counts as common when at least this share of the paths is below it. */
const LEAST_SHARE_OF_PATHS = 0.4;
const DEEPEST = 14;
const FOLDER = /^\/[\w./@+-]{2,200}$/;

/**
 * The deepest folder that holds many of the paths (with a trailing slash), or '' if none. A file's own folder is not
 * counted.
 */
export function commonFolder(events: readonly Happening[]): string {
  const counts = new Map<string, number>();
  let total = 0;
  for (const path of events.flatMap(pathsOf)) {
    if (!FOLDER.test(path)) continue;
    total++;
    const own = path.lastIndexOf('/');
    let end = path.indexOf('/', 1);
    for (let depth = 0; depth < DEEPEST && end !== -1 && end <= own; depth++) {
      const folder = path.slice(0, end + 1);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
      end = path.indexOf('/', end + 1);
    }
  }
  let common = '';
  for (const [folder, count] of counts) {
    if (count >= 2 && count >= total * LEAST_SHARE_OF_PATHS && folder.length > common.length) common = folder;
  }
  return common;
}

function pathsOf(event: Happening): readonly string[] {
  if (event.type !== 'did') return [];
  switch (event.action.kind) {
    case 'change':
    case 'look':
      // The name of a file's own folder stays with the file, so it never becomes part of the common folder.
      return event.action.files.map(({ path }) => path.slice(0, path.lastIndexOf('/')));
    case 'run': {
      const folder = event.action.folder ?? /^cd (\/[^\s&;|]{1,200})/.exec(event.action.command)?.[1];
      return folder === undefined ? [] : [`${folder.replace(/\/$/, '')}/.`];
    }
    default:
      return [];
  }
}
