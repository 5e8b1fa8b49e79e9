import type { Happening } from './events.ts';

const MOST_PATHS = 0.4;
const DEEPEST = 14;
const FOLDER = /^\/[\w./@+-]{2,200}$/;

/**
 * The deepest folder that many of the paths of calls are in, with a slash behind it; empty when there is none. The folder of
 * the file itself does not count: its name stays with the file's.
 */
export function commonRoot(events: readonly Happening[]): string {
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
  let root = '';
  for (const [folder, count] of counts) {
    if (count >= 2 && count >= total * MOST_PATHS && folder.length > root.length) root = folder;
  }
  return root;
}

function pathsOf(event: Happening): readonly string[] {
  if (event.type !== 'did') return [];
  switch (event.action.kind) {
    case 'change':
    case 'look':
      // Its own folder is no root: two parts of a path stay together.
      return event.action.files.map(({ path }) => path.slice(0, path.lastIndexOf('/')));
    case 'run': {
      const folder = event.action.folder ?? /^cd (\/[^\s&;|]{1,200})/.exec(event.action.command)?.[1];
      return folder === undefined ? [] : [`${folder.replace(/\/$/, '')}/.`];
    }
    default:
      return [];
  }
}
