import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGE = 'dist/web/dashboard.html';

/** The built page of the dashboard, read once; undefined where the package was not built. */
export function loadPage(): string | undefined {
  page ??= readPage();
  return page;
}

let page: string | undefined;

/** This code runs from `src` and from chunks in `dist`: the page is at the same place below the package's own folder. */
function readPage(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) return undefined;
    folder = dirname(folder);
  }
  const path = join(folder, PAGE);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
