import { currentTurnStart } from '../../conversation/cuts.ts';
import { type FileAccess, fileAccess } from '../../conversation/file-access.ts';
import { integer } from '../../conversation/options.ts';
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

/** By part: what was read of a file and is still the newest word on it, and what is stale only since a change. */
interface FileRecord {
  readonly shown: Map<string, AnsweredCall>;
  readonly changed: Map<string, StaleRead>;
}

/** Replaces results of files that were read again or changed since by a short note. */
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
      const stale = staleReads(surveyOf(conversation.messages).uses);
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

/** No range is written like this, so that it can stand for the whole file. */
const WHOLE = '';

/** A read is stale when the same part, or the whole file, is read after it, or the file is changed. */
function staleReads(uses: readonly AnsweredCall[]): readonly StaleRead[] {
  const files = new Map<string, FileRecord>();
  return uses.flatMap((use) => {
    const access = use.result.isError ? undefined : fileAccess(use.call);
    if (access === undefined) return [];
    const file = files.get(access.path) ?? { shown: new Map(), changed: new Map() };
    files.set(access.path, file);
    return noteAccess(file, use, access);
  });
}

/** The reads that an access to the same file makes stale. */
function noteAccess(
  { shown, changed }: FileRecord,
  use: AnsweredCall,
  { path, range = WHOLE, kind }: FileAccess,
): readonly StaleRead[] {
  const since = kind === 'write' ? 'changed' : 'read-again';
  const stale = takePart(shown, kind === 'write' ? WHOLE : range).map(
    ([part, old]) => [part, { use: old, path, since } as StaleRead] as const,
  );
  if (kind === 'write') {
    for (const [part, read] of stale) changed.set(part, read);
  } else {
    // How a file is after a change is told by the next read of the same part.
    for (const [, read] of takePart(changed, range)) read.since = 'read-again';
    shown.set(range, use);
  }
  return stale.map(([, read]) => read);
}

/** Takes a part out of a record; the whole file is all of its parts. */
function takePart<Value>(record: Map<string, Value>, part: string): readonly (readonly [string, Value])[] {
  const value = record.get(part);
  const single = value === undefined ? [] : [[part, value] as const];
  const taken = part === WHOLE ? [...record] : single;
  for (const [name] of taken) record.delete(name);
  return taken;
}

function noteOn({ path, since }: StaleRead): string {
  return since === 'read-again'
    ? `[older content of ${path}: it was read again later, see there]`
    : `[older content of ${path}: the file was changed later, read it again if needed]`;
}
