import type { Edit } from '../core/edit.ts';
import { fileAccess } from '../core/file-access.ts';
import { integer } from '../core/options.ts';
import { pinnedMessages } from '../core/pins.ts';
import { rememberFold } from '../core/prefix-memory.ts';
import { newestRoundsStart } from '../core/rounds.ts';
import { defineStrategy, finish } from '../core/strategy.ts';
import type { BlockPosition } from '../core/tool-links.ts';
import { type AnsweredCall, answeredCalls } from '../core/tool-uses.ts';

/** A read of a file, its place among all uses, and the records that tell what happened since. */
interface FileRead {
  readonly use: AnsweredCall;
  readonly path: string;
  readonly place: number;
  readonly file: FileRecord;
  readonly part: { lastRead: number };
}

/** Places of the last uses of a file: read as a whole, read in part, written. */
interface FileRecord {
  lastRead: number;
  lastWrite: number;
  parts: Map<string, { lastRead: number }> | undefined;
}

/** Replaces older reads of a file by a note: the newest one says all that is still true. */
export const collapseReads = defineStrategy({
  name: 'collapse-reads',
  summary: 'replace results of files that were read again or changed since by a short note',
  options: {
    keepRounds: integer({ default: 2, help: 'newest rounds whose results stay as they are' }),
    minTokens: integer({ default: 64, help: 'results smaller than this stay' }),
  },

  create: ({ keepRounds, minTokens }) => ({
    name: 'collapse-reads',
    async compact(conversation, context) {
      const protectedFrom = newestRoundsStart(conversation.messages, keepRounds);
      const pinned = pinnedMessages(conversation.messages, context.pins);
      const isLarge = ({ message, block }: BlockPosition) => {
        const found = conversation.messages[message];
        return found !== undefined && context.estimator.countBlockOf(found, block) >= minTokens;
      };
      const edits: Edit[] = [];
      for (const read of foldReads(answeredCalls(conversation.messages)).reads) {
        const { at } = read.use;
        const note = noteOn(read);
        if (note === undefined || at.message >= protectedFrom || pinned.has(at.message)) continue;
        if (isLarge(at)) edits.push({ type: 'rewrite', ...at, text: note });
      }
      return finish(conversation, edits, context, {
        strategy: 'collapse-reads',
        reason: `${edits.length} older reads became notes`,
      });
    },
  }),
});

interface Reads {
  readonly reads: FileRead[];
  readonly files: Map<string, FileRecord>;
  uses: number;
}

const foldReads = rememberFold<AnsweredCall, Reads>({
  start: () => ({ reads: [], files: new Map(), uses: 0 }),
  add(state, use) {
    const place = state.uses++;
    const access = use.result.isError ? undefined : fileAccess(use.call);
    if (access === undefined) return;
    const file = recordOf(state.files, access.path);
    if (access.kind === 'write') {
      file.lastWrite = place;
      return;
    }
    const part = access.range === undefined ? file : partOf(file, access.range);
    part.lastRead = place;
    state.reads.push({ use, path: access.path, place, file, part });
  },
});

function recordOf(files: Map<string, FileRecord>, path: string): FileRecord {
  const known = files.get(path);
  if (known !== undefined) return known;
  const file: FileRecord = { lastRead: -1, lastWrite: -1, parts: undefined };
  files.set(path, file);
  return file;
}

function partOf(file: FileRecord, range: string): { lastRead: number } {
  file.parts ??= new Map();
  const part = file.parts.get(range) ?? { lastRead: -1 };
  file.parts.set(range, part);
  return part;
}

/** What stands for a read that is stale: the same part, or the whole file, was read after it, or the file changed. */
function noteOn({ path, place, file, part }: FileRead): string | undefined {
  if (part.lastRead > place || file.lastRead > place)
    return `[older content of ${path}: it was read again later, see there]`;
  if (file.lastWrite > place)
    return `[older content of ${path}: the file was changed later, read it again if needed]`;
  return undefined;
}
