import { currentTurnStart } from '../../conversation/current-turn.ts';
import { fileAccess } from '../../conversation/file-access.ts';
import { integer } from '../../conversation/options.ts';
import { rememberFold } from '../../conversation/prefix-memory.ts';
import { newestRoundsStart } from '../../conversation/rounds.ts';
import type { BlockPosition } from '../../conversation/tool-links.ts';
import { pinnedMessages } from '../plan/pins.ts';
import type { Edit } from '../plan/plan.ts';
import { withHandles } from '../plan/receipt.ts';
import { defineStrategy, finish } from '../plan/strategy.ts';
import { type AnsweredCall, surveyOf } from '../plan/survey.ts';

/** A read that says nothing any more that is not said later, or is not true any more. */
interface StaleRead {
  readonly use: AnsweredCall;
  readonly path: string;
  since: 'read-again' | 'changed';
}

/** What was read of a file and is still the newest word on it, and what is known to be stale only since a change. */
interface FileRecord {
  whole: AnsweredCall | undefined;
  parts: Map<string, AnsweredCall> | undefined;
  changed: Map<string, StaleRead> | undefined;
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
      const { stale } = foldReads(surveyOf(conversation.messages).uses);
      const protectedFrom =
        stale.length === 0
          ? 0
          : Math.min(
              newestRoundsStart(conversation.messages, keepRounds),
              currentTurnStart(conversation.messages),
            );
      const pinned = pinnedMessages(conversation.messages, context.pins);
      const isLarge = ({ message, block }: BlockPosition) => {
        const found = conversation.messages[message];
        return found !== undefined && context.estimator.countBlockOf(found, block) >= minTokens;
      };
      const edits = stale
        .filter(({ use: { at } }) => at.message < protectedFrom && !pinned.has(at.message) && isLarge(at))
        .map((read): Edit => ({ type: 'rewrite', ...read.use.at, text: noteOn(read) }));
      return finish(conversation, withHandles(edits, conversation.messages, context.handleFor), context, {
        strategy: 'collapse-reads',
        reason: `${edits.length} older reads became notes`,
      });
    },
  }),
});

interface Reads {
  readonly stale: StaleRead[];
  readonly files: Map<string, FileRecord>;
}

/** No range is written like this, so that it can stand for the whole file. */
const WHOLE = '';

/** A read is stale when the same part, or the whole file, is read after it, or the file is changed. */
const foldReads = rememberFold<AnsweredCall, Reads>({
  start: () => ({ stale: [], files: new Map() }),
  add({ stale, files }, use) {
    const access = use.result.isError ? undefined : fileAccess(use.call);
    if (access === undefined) return;
    const { path, range = WHOLE } = access;
    const file = files.get(path);
    const leave = (old: AnsweredCall, since: StaleRead['since']): StaleRead => {
      const read = { use: old, path, since };
      stale.push(read);
      return read;
    };
    if (access.kind === 'write') {
      if (file !== undefined) noteChange(file, leave);
    } else if (file === undefined) {
      const isWhole = range === WHOLE;
      const parts = isWhole ? undefined : new Map([[range, use]]);
      files.set(path, { whole: isWhole ? use : undefined, parts, changed: undefined });
    } else {
      noteRead(file, range, leave);
      if (range === WHOLE) file.whole = use;
      else file.parts = (file.parts ?? new Map<string, AnsweredCall>()).set(range, use);
    }
  },
});

type Leave = (old: AnsweredCall, since: StaleRead['since']) => StaleRead;

/** All that was read is stale now; how it is will be told by the next read of the same. */
function noteChange(file: FileRecord, leave: Leave): void {
  const changed = file.changed ?? new Map<string, StaleRead>();
  if (file.whole !== undefined) changed.set(WHOLE, leave(file.whole, 'changed'));
  for (const [range, use] of file.parts ?? []) changed.set(range, leave(use, 'changed'));
  file.changed = changed;
  file.whole = undefined;
  file.parts = undefined;
}

/** What this read shows again is stale: the same part, or all parts when it shows the whole file. */
function noteRead(file: FileRecord, range: string, leave: Leave): void {
  if (range !== WHOLE) {
    const old = file.parts?.get(range);
    if (old !== undefined) leave(old, 'read-again');
    const changed = file.changed?.get(range);
    if (changed !== undefined) changed.since = 'read-again';
    file.changed?.delete(range);
    return;
  }
  if (file.whole !== undefined) leave(file.whole, 'read-again');
  for (const use of file.parts?.values() ?? []) leave(use, 'read-again');
  for (const read of file.changed?.values() ?? []) read.since = 'read-again';
  file.parts = undefined;
  file.changed = undefined;
}

function noteOn({ path, since }: StaleRead): string {
  return since === 'read-again'
    ? `[older content of ${path}: it was read again later, see there]`
    : `[older content of ${path}: the file was changed later, read it again if needed]`;
}
