/** The tools of the chat, which list, read and search files, and what keeps them inside the working directory. */

import { open, readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import { callArguments, type ToolCallBlock } from '../conversation/message.ts';

/** A tool that the model is offered: it only reads, and only below the working directory. */
export interface ChatTool {
  readonly name: string;
  readonly summary: string;
  /** What it takes: all of it text. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  run(input: JsonObject, workspace: Workspace): Promise<string>;
}

/** Why a tool can do nothing; told to the model. */
class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}

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

const MOST_ENTRIES = 200;

/** `list_files`: what is in a folder. */
const listFiles: ChatTool = {
  name: 'list_files',
  summary: 'Lists a folder below the working directory.',
  parameters: { path: 'folder; the working directory when left out' },
  required: [],
  async run(input, workspace) {
    const folder = await workspace.find(asString(input['path']) ?? '.');
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) throw new ToolRefusal('that is no folder that can be listed');
    const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
    const rest = names.length - MOST_ENTRIES;
    const more = rest > 0 ? [`… and ${rest} more`] : [];
    return [...names.slice(0, MOST_ENTRIES), ...more].join('\n') || '(empty)';
  },
};

const MOST_BYTES = 64 * 1024;

/** `read_file`: the text of a file, or its beginning. */
const readTextFile: ChatTool = {
  name: 'read_file',
  summary: 'Reads a text file below the working directory.',
  parameters: { path: 'file' },
  required: ['path'],
  async run(input, workspace) {
    const path = await workspace.find(asString(input['path']) ?? '');
    return readBeginning(path);
  },
};

/**
 * The beginning of a text file.
 * @throws ToolRefusal when it is no text file, or cannot be read
 */
async function readBeginning(path: string): Promise<string> {
  const found = await stat(path);
  // A pipe or a device would never end.
  if (!found.isFile()) throw new ToolRefusal('that is no file');
  const file = await open(path).catch(() => undefined);
  if (file === undefined) throw new ToolRefusal('that file cannot be read');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.includes(0)) throw new ToolRefusal('that is no text file');
    const text = new TextDecoder().decode(bytes, { stream: true });
    return found.size > bytesRead ? `${text}\n… (${found.size - bytesRead} more bytes)` : text || '(empty)';
  } finally {
    await file.close();
  }
}

const MOST_MATCHES = 40;
const MOST_FILES = 2000;
const LONGEST_LINE = 200;
/** Folders that a search skips: dependencies, builds, version control. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist']);

/** `search_files`: the lines in which a text occurs. */
const searchFiles: ChatTool = {
  name: 'search_files',
  summary: 'Finds the lines of files below the working directory that contain a text.',
  parameters: { text: 'text to look for, as it is', path: 'folder; the working directory when left out' },
  required: ['text'],
  async run(input, workspace) {
    const text = asString(input['text']) ?? '';
    if (text === '') throw new ToolRefusal('there is no text to look for');
    const folder = await workspace.find(asString(input['path']) ?? '.');
    const matches: string[] = [];
    for await (const file of filesBelow(folder)) {
      matches.push(...(await matchesIn(file, text, workspace)));
      if (matches.length >= MOST_MATCHES) break;
    }
    return matches.slice(0, MOST_MATCHES).join('\n') || 'no line contains that text';
  },
};

/** Real files alone: links may lead outside, or in a circle. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  const folders = [folder];
  let count = 0;
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
      if (!entry.isFile()) continue;
      if (++count > MOST_FILES) return;
      yield path;
    }
  }
}

async function matchesIn(path: string, text: string, workspace: Workspace): Promise<readonly string[]> {
  const content = await readBeginning(path).catch(() => '');
  return content
    .split('\n')
    .flatMap((line, index) =>
      line.includes(text)
        ? [`${workspace.nameOf(path)}:${index + 1}: ${line.trim().slice(0, LONGEST_LINE)}`]
        : [],
    );
}

/** Every tool that the model is offered. */
export const chatTools: readonly ChatTool[] = [listFiles, readTextFile, searchFiles];

/** What a tool takes, as a JSON schema. */
export function schemaOf({ parameters, required }: ChatTool): JsonObject {
  const properties = Object.entries(parameters).map(([name, description]) => [
    name,
    { type: 'string', description },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** Runs a call. Whatever goes wrong is an answer for the model. */
export async function runTool(call: ToolCallBlock, workspace: Workspace): Promise<ToolAnswer> {
  const tool = chatTools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const known = chatTools.map(({ name }) => name).join(', ');
    return { text: `there is no such tool; there are ${known}`, isError: true };
  }
  const input = callArguments(call);
  if (!isObject(input)) return { text: 'the arguments are no JSON object', isError: true };
  try {
    return { text: await tool.run(input, workspace), isError: false };
  } catch (error) {
    const text = error instanceof ToolRefusal ? error.message : 'the tool failed';
    return { text, isError: true };
  }
}
