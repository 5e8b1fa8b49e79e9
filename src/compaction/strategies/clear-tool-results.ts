import { currentTurnStart } from '../../conversation/cuts.ts';
import type { ToolResultBlock } from '../../conversation/message.ts';
import { integer, list } from '../../conversation/options.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { pinnedMessages } from '../plan/pins.ts';
import type { Edit } from '../plan/plan.ts';
import { EXAMPLE_HANDLE, type HandleFor, withHandles } from '../plan/receipt.ts';
import { defineStrategy, finish, notCompacted } from '../plan/strategy.ts';
import { type AnsweredCall, surveyOf } from '../plan/survey.ts';

/** What stands where a result was. Always the same, so that a prompt cache keeps what stands behind it. */
export const CLEARED_TEXT = '[Old tool result content cleared]';

/** Tools whose output can be had again, in the names that agents give them. */
const OBTAINABLE = [
  'read',
  'read_file',
  'view',
  'view_file',
  'cat',
  'ls',
  'list_files',
  'list_directory',
  'glob',
  'grep',
  'search',
  'search_files',
  'bash',
  'shell',
  'exec_command',
  'run_command',
  'execute_bash',
  'run_shell_command',
  'local_shell',
  'web_search',
  'web_fetch',
  'fetch',
  'edit',
  'edit_file',
  'multiedit',
  'write',
  'write_file',
  'str_replace_editor',
];

/** Shares of the target: what stays of the newest results, and the smallest batch that is worth a new prompt cache. */
const PROTECTED_SHARE = 0.2;
const BATCH_SHARE = 0.1;
const MOST_BATCH_TOKENS = 20_000;
/** Estimates of parts do not add up exactly. */
const ROUNDING = 1.02;
function noteText(handleFor: HandleFor | undefined): string {
  return handleFor === undefined ? CLEARED_TEXT : `${CLEARED_TEXT} ${EXAMPLE_HANDLE}`;
}

/** Clears old results of tools that can be run again, in batches that are worth it. */
export const clearToolResults = defineStrategy({
  name: 'clear-tool-results',
  summary: 'clear old results of tools that can be run again',
  options: {
    tools: list({ default: OBTAINABLE, help: 'tools whose results may be cleared' }),
    protectTokens: integer({
      default: 0,
      help: 'newest tokens of results that stay; 0: a fifth of the target',
    }),
    minBatchTokens: integer({
      default: 0,
      help: 'act only when so much can be cleared at once; 0: a tenth of the target, at most 20,000',
    }),
  },

  create({ tools, ...options }) {
    const listed = new Set(tools.map(plainName));
    const isClearable = ({ call, result }: AnsweredCall) =>
      listed.has(plainName(call.name)) && isPlainText(result);
    return {
      name: 'clear-tool-results',
      async compact(conversation, context) {
        const { messages } = conversation;
        const { uses } = surveyOf(messages);
        const pinned = pinnedMessages(messages, context.pins);
        const current = currentTurnStart(messages);
        const sizeOf = ({ at }: AnsweredCall) => {
          const message = messages[at.message];
          return message === undefined ? 0 : context.estimator.countBlockOf(message, at.block);
        };
        const { targetTokens } = context;
        const protectTokens =
          options.protectTokens > 0 ? options.protectTokens : targetTokens * PROTECTED_SHARE;
        const minBatchTokens =
          options.minBatchTokens > 0
            ? options.minBatchTokens
            : Math.min(MOST_BATCH_TOKENS, targetTokens * BATCH_SHARE);
        const noteTokens = context.estimator.countText(noteText(context.handleFor));
        // No more is cleared than the target asks for; without a need, all that may be.
        const excess = (requestTokens(conversation, context.estimator) - targetTokens) * ROUNDING;
        const wanted = excess > 0 ? Math.max(excess, minBatchTokens) : Number.POSITIVE_INFINITY;

        const mayGo = uses
          .slice(0, protectedFrom(uses, sizeOf, protectTokens))
          .filter((use) => use.at.message < current && !pinned.has(use.at.message) && isClearable(use));
        const chosen: Edit[] = [];
        let freed = 0;
        for (const use of mayGo) {
          if (freed >= wanted) break;
          chosen.push({ type: 'rewrite', ...use.at, text: CLEARED_TEXT });
          freed += Math.max(0, sizeOf(use) - noteTokens);
        }
        if (chosen.length === 0 || freed < minBatchTokens) {
          return notCompacted(
            'skipped',
            'batch-too-small',
            `${Math.round(freed)} tokens could be cleared, less than ${Math.round(minBatchTokens)}`,
          );
        }
        return finish(conversation, withHandles(chosen, messages, context.handleFor), context, {
          strategy: 'clear-tool-results',
          reason: `cleared ${chosen.length} old results`,
        });
      },
    };
  },
});

/** Errors are worth keeping, pictures have limits of their own, and what was cleared stays as it is. */
function isPlainText({ isError, content }: ToolResultBlock): boolean {
  if (isError) return false;
  const [first] = content;
  if (content.length === 1 && first?.type === 'text') return !first.text.startsWith(CLEARED_TEXT);
  return content.every(({ type }) => type === 'text');
}

/** The index of the first of the newest results that together have no more than so many tokens. */
function protectedFrom(
  uses: readonly AnsweredCall[],
  sizeOf: (use: AnsweredCall) => number,
  protectTokens: number,
): number {
  let newest = 0;
  const exceeding = uses.findLastIndex((use) => {
    newest += sizeOf(use);
    return newest > protectTokens;
  });
  return exceeding + 1;
}

/** A tool of another server keeps its prefix, so that it is only cleared when it is listed. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
