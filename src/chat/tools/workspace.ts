import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ToolRefusal } from './tool-refusal.ts';

/** The folder that tools may look into. */
export interface Workspace {
  /**
   * Where a path really leads, with links followed.
   * @throws ToolRefusal when that is outside of the folder, or nowhere
   */
  find(path: string): Promise<string>;
  /** The path as the user would write it. */
  nameOf(found: string): string;
}

/** Opens the working directory for tools. */
export async function openWorkspace(folder: string): Promise<Workspace> {
  const root = await realpath(folder);
  const isInside = (path: string) => {
    const way = relative(root, path);
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
  };
  const outside = () => new ToolRefusal('that is outside of the working directory');
  return {
    async find(path) {
      const wanted = resolve(root, path === '' ? '.' : path);
      // Asked first, so that nobody learns what there is outside.
      if (!isInside(wanted)) throw outside();
      const found = await realpath(wanted).catch(() => undefined);
      if (found === undefined) throw new ToolRefusal('there is no such file or folder');
      if (!isInside(found)) throw outside();
      return found;
    },
    nameOf: (found) => relative(root, found) || '.',
  };
}
