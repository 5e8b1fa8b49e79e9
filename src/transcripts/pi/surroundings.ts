import type { JsonObject } from '../../conversation/json.ts';
import type { Entry } from './entries.ts';

/** What stands around the messages of a request. Older files do not tell it. */
export interface Surroundings {
  /** Empty when nothing is known. */
  readonly instructions: string;
  /** In pi's own form: `name`, `description`, `parameters`. */
  readonly tools: readonly JsonObject[];
}

/** What the system entries of a session come to, in order: texts add up, sections and tools replace their namesakes. */
export function surroundingsOf(entries: Iterable<Entry | undefined>): Surroundings {
  const texts: string[] = [];
  const sections = new Map<string, string>();
  const tools = new Map<unknown, JsonObject>();
  for (const entry of entries) {
    if (entry?.role !== 'system') continue;
    texts.push(entry.text);
    for (const [name, text] of entry.sections) {
      if (text === null) sections.delete(name);
      else sections.set(name, text);
    }
    for (const name of entry.toolsRemoved) tools.delete(name);
    for (const tool of entry.toolsAdded) tools.set(tool['name'], tool);
  }
  const parts = [...texts, ...sections.values()];
  return {
    instructions: parts.filter((part) => part !== '').join('\n\n'),
    tools: [...tools.values()],
  };
}
