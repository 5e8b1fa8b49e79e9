import type { Edit } from '../core/edit.ts';
import { textOf } from '../core/message.ts';
import { integer, list } from '../core/options.ts';
import { pinnedMessages } from '../core/pins.ts';
import { defineStrategy, finish, notCompacted } from '../core/strategy.ts';
import { type AnsweredCall, answeredCalls } from '../core/tool-uses.ts';

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

/** Empties old results of tools that can be run again, in batches that are worth it. */
export const clearToolResults = defineStrategy({
  name: 'clear-tool-results',
  summary: 'clear old results of tools that can be run again',
  options: {
    tools: list({ default: OBTAINABLE, help: 'tools whose results may be cleared' }),
    protectTokens: integer({ default: 40_000, help: 'newest tokens of results that stay' }),
    minBatchTokens: integer({ default: 20_000, help: 'act only when so much can be cleared at once' }),
  },

  create: ({ tools, protectTokens, minBatchTokens }) => ({
    name: 'clear-tool-results',
    async compact(conversation, context) {
      const names = new Set(tools.map(plainName));
      const pinned = pinnedMessages(conversation.messages, context.pins);
      const sizeOf = ({ result }: AnsweredCall) => context.estimator.countBlock(result);
      // Results behind the last answer are those that the model has not seen yet.
      const unseenFrom = conversation.messages.findLastIndex(({ role }) => role === 'assistant');
      const isClearable = (use: AnsweredCall) =>
        names.has(plainName(use.call.name)) &&
        use.at.message < unseenFrom &&
        !pinned.has(use.at.message) &&
        !use.result.isError &&
        use.result.content.every(({ type }) => type === 'text') &&
        textOf(use.result) !== CLEARED_TEXT;

      let newest = 0;
      const old: AnsweredCall[] = [];
      for (const use of answeredCalls(conversation.messages).toReversed()) {
        newest += sizeOf(use);
        if (newest > protectTokens && isClearable(use)) old.push(use);
      }
      const freed = old.reduce((sum, use) => sum + sizeOf(use), 0);
      if (old.length === 0 || freed < minBatchTokens) {
        return notCompacted(
          'skipped',
          'batch-too-small',
          `${Math.round(freed)} tokens could be cleared, less than ${minBatchTokens}`,
        );
      }
      const edits = old.map(({ at }): Edit => ({ type: 'rewrite', ...at, text: CLEARED_TEXT }));
      return finish(conversation, edits, context, {
        strategy: 'clear-tool-results',
        reason: `cleared ${old.length} old results`,
      });
    },
  }),
});

/** A tool of another server keeps its prefix, so that it is only cleared when it is listed. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
