import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A file below a root. `path` starts with a slash and is the same on every machine. */
export interface FoundFile {
  readonly absolute: string;
  readonly path: string;
}

const depthLimit = 14;
const filesByRoot = new Map<string, readonly FoundFile[]>();

/** Files below a folder whose path matches; links are not followed, unreadable folders are skipped. */
export function listFiles(root: string, match: RegExp): readonly FoundFile[] {
  let files = filesByRoot.get(root);
  if (files === undefined) {
    files = walk(root);
    filesByRoot.set(root, files);
  }
  return files.filter((file) => match.test(file.path));
}

function walk(root: string): readonly FoundFile[] {
  const files: FoundFile[] = [];
  const folders: { path: string; depth: number }[] = [{ path: '', depth: 0 }];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(join(root, folder.path))) {
      const path = `${folder.path}/${entry.name}`;
      if (entry.isDirectory() && folder.depth < depthLimit) folders.push({ path, depth: folder.depth + 1 });
      if (entry.isFile()) files.push({ absolute: join(root, path), path });
    }
  }
  return files;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
