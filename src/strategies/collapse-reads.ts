import type { Edit } from '../core/edit.ts';
import { type FileAccess, fileAccess } from '../core/file-access.ts';
import { integer } from '../core/options.ts';
import { pinnedMessages } from '../core/pins.ts';
import { groupRounds } from '../core/rounds.ts';
import { defineStrategy, finish } from '../core/strategy.ts';
import { type AnsweredCall, answeredCalls } from '../core/tool-uses.ts';

/** A read of a file that was read again, or changed, since. */
interface StaleRead {
  readonly use: AnsweredCall;
  readonly access: FileAccess;
  readonly since: 'read-again' | 'changed';
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
      const rounds = groupRounds(conversation.messages);
      const protectedFrom =
        rounds[Math.max(0, rounds.length - keepRounds)]?.start ?? conversation.messages.length;
      const pinned = pinnedMessages(conversation.messages, context.pins);
      const stale = findStaleReads(answeredCalls(conversation.messages)).filter(({ use }) => {
        const isOld = use.at.message < protectedFrom && !pinned.has(use.at.message);
        return isOld && context.estimator.countBlock(use.result) >= minTokens;
      });
      const edits = stale.map(
        ({ use, access, since }): Edit => ({ type: 'rewrite', ...use.at, text: noteOn(access, since) }),
      );
      return finish(conversation, edits, context, {
        strategy: 'collapse-reads',
        reason: `${stale.length} older reads became notes`,
      });
    },
  }),
});

/** From the newest back: a read is stale when the same part, or the whole file, was read or changed after it. */
function findStaleReads(uses: readonly AnsweredCall[]): readonly StaleRead[] {
  const readLater = new Map<string, Set<string | undefined>>();
  const changedLater = new Set<string>();
  const stale: StaleRead[] = [];
  for (const use of uses.toReversed()) {
    const access = fileAccess(use.call);
    if (access === undefined || use.result.isError) continue;
    if (access.kind === 'write') {
      changedLater.add(access.path);
      continue;
    }
    const ranges = readLater.get(access.path) ?? new Set();
    if (ranges.has(undefined) || ranges.has(access.range)) stale.push({ use, access, since: 'read-again' });
    else if (changedLater.has(access.path)) stale.push({ use, access, since: 'changed' });
    readLater.set(access.path, ranges.add(access.range));
  }
  return stale.reverse();
}

function noteOn({ path }: FileAccess, since: StaleRead['since']): string {
  return since === 'read-again'
    ? `[older content of ${path}: it was read again later, see there]`
    : `[older content of ${path}: the file was changed later, read it again if needed]`;
}
