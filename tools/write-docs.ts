/**
 * Writes `docs/reference`: a page for everything that a registry lists, and one for each entry point. The types of the
 * entry points are read as they were built, so `npm run build` comes first. Writes the schema of the proxy's
 * configuration and the examples of memories anew, too.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configJsonSchema } from '../src/proxy/config.ts';
import { withExampleMemories } from './docs/example-memories.ts';
import { renderReference } from './docs/reference.ts';

const FOLDER = 'docs/reference';
const CONFIG_SCHEMA = 'docs/proxy-config.schema.json';
const MEMORIES = 'docs/what-a-memory-says.md';

const pages = renderReference();
rmSync(FOLDER, { recursive: true, force: true });
for (const [path, text] of pages) {
  const file = join(FOLDER, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
process.stdout.write(`${pages.size} pages in ${FOLDER}\n`);
writeFileSync(MEMORIES, await withExampleMemories(readFileSync(MEMORIES, 'utf8')));
writeFileSync(CONFIG_SCHEMA, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
