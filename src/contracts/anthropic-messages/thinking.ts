import type { Seal, SealVerdict, Violation } from '../contract.ts';
import { isObject, read, readList, readText } from '../json-value.ts';
import { hasBeta, hasBindingControls } from './betas.ts';
import { checkRequired, checkTag } from './kinds.ts';
import type { ThinkingMode } from './models.ts';
import { type Block, type Check, hasToolResult, type Message, type Request } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

const modes: readonly ThinkingMode[] = ['adaptive', 'disabled', 'enabled'];
const minBudgetTokens = 1024;
const thinkingTypes: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);
/** Blocks that may stand before the thinking a response starts with. */
const prologueTypes: ReadonlySet<string> = new Set(['compaction', 'fallback']);

/** The `thinking` parameter: a mode the model has and a budget within bounds. */
export const checkThinkingMode: Check = ({ body, facts, context }) => {
  const thinking = read(body, 'thinking');
  if (!isObject(thinking)) return [];
  const mode = modes.find((known) => known === read(thinking, 'type'));
  if (mode === undefined) return checkTag(thinking, modes, 'thinking');
  if (!facts.thinkingModes.includes(mode)) return [report(rules.thinkingModeUnsupported, 'thinking', mode)];
  if (mode !== 'enabled') return [];

  const path = 'thinking.enabled.budget_tokens';
  const budget = read(thinking, 'budget_tokens');
  if (typeof budget !== 'number') return checkRequired(thinking, 'budget_tokens', 'integer', path);
  if (budget < minBudgetTokens) return [report(rules.thinkingBudgetOutOfBounds, path, 'too small')];
  // With interleaved thinking the budget spans the whole tool loop and may exceed `max_tokens`.
  const mayInterleave = readList(body, 'tools').length > 0 && hasBeta(context, 'interleaved-thinking-');
  const maxTokens = read(body, 'max_tokens');
  const isTooLarge = typeof maxTokens === 'number' && maxTokens <= budget && !mayInterleave;
  return isTooLarge ? [report(rules.thinkingBudgetOutOfBounds, path, 'too large')] : [];
};

/** Manual thinking: the running tool loop starts with thinking. */
export const checkThinkingLoop: Check = ({ body, messages }) => {
  if (read(read(body, 'thinking'), 'type') !== 'enabled') return [];
  const turns = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const last = turns.at(-1);
  if (last === undefined || last.role !== 'user' || !hasToolResult(last)) return [];

  const loop = turns.slice(latestTurnStart(turns)).filter(({ role }) => role === 'assistant');
  // Without interleaving only the first response of a loop thinks, so one leading block is enough for all.
  if (loop.some((message) => thinkingTypes.has(leadingType(message)))) return [];
  const final = loop.at(-1);
  return final === undefined || final.blocks.length === 0
    ? []
    : [report(rules.thinkingMissingInToolLoop, `${final.path}.content.0.type`, leadingType(final))];
};

function leadingType({ blocks }: Message): string {
  return blocks.find(({ type }) => !prologueTypes.has(type))?.type ?? 'text';
}

/** Where the turn of the last assistant message begins: just behind the last user message that answers no call. */
function latestTurnStart(messages: readonly Message[]): number {
  let start = messages.findLastIndex(({ role }) => role === 'assistant');
  while (start > 0 && continuesTurn(messages[start - 1])) start--;
  return Math.max(start, 0);
}

function continuesTurn(message: Message | undefined): boolean {
  return message !== undefined && (message.role !== 'user' || hasToolResult(message));
}

/** Signatures of thinking. Says nothing without somebody who can judge them. */
export const checkThinkingSeals: Check = (request) => {
  const { messages, context, body } = request;
  const verify = context.seals;
  if (verify === undefined) return [];
  const latest = latestTurnStart(messages);
  const reported = new Set<SealVerdict>();
  return messages.flatMap((message, position) =>
    thinkingOf(message).flatMap((block) => {
      const seal: Seal = { kind: 'thinking', value: block.value, path: block.path, body };
      const verdict = verify(seal);
      const isFollowUp = reported.has(verdict);
      // One edit breaks the binding of everything behind it: the first block is the fault.
      if (verdict === 'foreign-prefix' || verdict === 'gap') reported.add(verdict);
      return isFollowUp ? [] : judge(block, verdict, position >= latest, request);
    }),
  );
};

function thinkingOf({ role, blocks }: Message): Block[] {
  if (role !== 'assistant') return [];
  // A missing signature is a fault of the shape.
  return blocks.filter(
    ({ type, value }) =>
      type === 'redacted_thinking' || (type === 'thinking' && readText(value, 'signature') !== undefined),
  );
}

function judge(block: Block, verdict: SealVerdict, isLatest: boolean, request: Request): Violation[] {
  const { type, path } = block;
  switch (verdict) {
    case 'valid':
      return [];
    case 'modified':
      return [
        isLatest ? report(rules.thinkingModified, path) : report(rules.thinkingSignatureInvalid, path, type),
      ];
    case 'tampered':
      return [report(rules.thinkingSignatureInvalid, path, type)];
    case 'foreign-prefix':
    case 'gap':
      return judgeBinding(block, verdict, request);
  }
}

function judgeBinding(
  { type, path }: Block,
  verdict: 'foreign-prefix' | 'gap',
  request: Request,
): Violation[] {
  const { body, context, facts } = request;
  const binding = read(read(body, 'thinking'), 'block_binding');
  const hasControls = hasBindingControls(context);
  const isDropped = hasControls && read(binding, 'prefix_mismatch_behavior') === 'drop_block';
  if (!facts.bindsThinkingToPrefix || isDropped) return [];
  return [
    report(
      verdict === 'gap' ? rules.gapInThinking : rules.thinkingBehindAnotherPrefix,
      path,
      type,
      !hasControls,
    ),
  ];
}
