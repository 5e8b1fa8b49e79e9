import type { Seal, SealVerdict, Violation } from '../contract.ts';
import { isObject, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { hasBeta, hasBindingControls } from './frame.ts';
import type { ThinkingMode } from './models.ts';
import { type Block, hasToolResult, type Message, type Request } from './request.ts';
import { checkRequired, checkTag } from './values.ts';

const boundElsewhere =
  'The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const headerNeeded = ' This needs the `thinking-binding-controls-2026-08-01` beta header.';

const thinkingModeWordings: ReadonlyMap<string, string> = new Map([
  [
    'enabled',
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  ],
  ['adaptive', 'adaptive thinking is not supported on this model'],
  ['disabled', '"thinking.type.disabled" is not supported for this model.'],
]);

const rules = defineRules({
  'thinking-mode-unsupported': {
    alias: 'A42',
    title: 'the thinking mode is one the model has',
    fix: 'Use a thinking type that the model supports.',
    evidence: 'documented',
    wording: (_path: string, mode: string) => thinkingModeWordings.get(mode) ?? mode,
  },
  'thinking-budget-out-of-bounds': {
    alias: 'A43',
    title: 'the thinking budget is within its bounds',
    fix: 'Use a budget of at least 1024 tokens and less than `max_tokens`.',
    evidence: 'documented',
    wording: (_path: string, fault: 'too small' | 'too large') =>
      fault === 'too small'
        ? 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
        : 'max_tokens must be greater than thinking.budget_tokens',
  },
  'thinking-modified': {
    alias: 'A37',
    title: 'thinking of the latest turn is unchanged',
    fix: 'Send the blocks back exactly as they came.',
    evidence: 'documented',
    wording: (path: string) =>
      `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  },
  'thinking-missing-in-tool-loop': {
    alias: 'A38',
    title: 'a tool loop with manual thinking starts with thinking',
    fix: 'Keep the leading thinking block of the running tool loop, or use adaptive thinking.',
    evidence: 'reported',
    wording: (path: string, found: string) =>
      `${path}: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  },
  'thinking-signature-invalid': {
    alias: 'A40',
    title: 'the signature fits',
    fix: 'Send the block back exactly as it came, or remove it.',
    evidence: 'reported',
    wording: (path: string, type: string) => `${path}: Invalid \`signature\` in \`${type}\` block`,
  },
  'thinking-behind-another-prefix': {
    alias: 'A41',
    title: 'thinking stands behind the prefix it was issued behind',
    fix: 'Remove this thinking block and all later ones, or ask for `drop_block`.',
    evidence: 'documented',
    wording: (path: string, type: string, isHeaderMissing: boolean) =>
      `${path}: Invalid \`signature\` in \`${type}\` block. ${boundElsewhere}${isHeaderMissing ? headerNeeded : ''}`,
  },
  'gap-in-thinking': {
    alias: 'A48',
    title: 'kept thinking is one unbroken run',
    fix: 'Remove this thinking block and all later ones, or all earlier ones.',
    evidence: 'inferred',
    wording: (path: string, type: string, isHeaderMissing: boolean) =>
      `${path}: Invalid \`signature\` in \`${type}\` block. ${boundElsewhere}${isHeaderMissing ? headerNeeded : ''}`,
  },
});

const modes: readonly ThinkingMode[] = ['adaptive', 'disabled', 'enabled'];
const minBudgetTokens = 1024;
const thinkingTypes: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);
/** Blocks that may stand before the thinking a response starts with. */
const prologueTypes: ReadonlySet<string> = new Set(['compaction', 'fallback']);

/** Thinking: the parameter, the start of a running tool loop, and what the signatures say. */
export const anthropicThinking: RuleGroup<Request> = {
  rules,
  check: (request) => [...checkMode(request), ...checkToolLoop(request), ...checkSeals(request)],
};

/** The `thinking` parameter: a mode the model has and a budget within bounds. */
function checkMode({ body, facts, context, isWhole }: Request): readonly Violation[] {
  const parameter = read(body, 'thinking');
  if (!isWhole || !isObject(parameter)) return [];
  const mode = modes.find((known) => known === read(parameter, 'type'));
  if (mode === undefined) return checkTag(parameter, modes, 'thinking');
  if (!facts.thinkingModes.includes(mode))
    return [report(rules['thinking-mode-unsupported'], 'thinking', mode)];
  if (mode !== 'enabled') return [];

  const path = 'thinking.enabled.budget_tokens';
  const budget = read(parameter, 'budget_tokens');
  if (typeof budget !== 'number') return checkRequired(parameter, 'budget_tokens', 'integer', path);
  if (budget < minBudgetTokens) return [report(rules['thinking-budget-out-of-bounds'], path, 'too small')];
  // With interleaved thinking the budget spans the whole tool loop and may exceed `max_tokens`.
  const mayInterleave = readList(body, 'tools').length > 0 && hasBeta(context, 'interleaved-thinking-');
  const maxTokens = read(body, 'max_tokens');
  const isTooLarge = typeof maxTokens === 'number' && maxTokens <= budget && !mayInterleave;
  return isTooLarge ? [report(rules['thinking-budget-out-of-bounds'], path, 'too large')] : [];
}

/** Manual thinking: the running tool loop starts with thinking. */
function checkToolLoop({ body, messages, isWhole }: Request): readonly Violation[] {
  if (!isWhole || read(read(body, 'thinking'), 'type') !== 'enabled') return [];
  const turns = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const last = turns.at(-1);
  if (last === undefined || last.role !== 'user' || !hasToolResult(last)) return [];

  const loop = turns.slice(latestTurnStart(turns)).filter(({ role }) => role === 'assistant');
  // Without interleaving only the first response of a loop thinks, so one leading block is enough for all.
  if (loop.some((message) => thinkingTypes.has(leadingType(message)))) return [];
  const final = loop.at(-1);
  return final === undefined || final.blocks.length === 0
    ? []
    : [report(rules['thinking-missing-in-tool-loop'], `${final.path}.content.0.type`, leadingType(final))];
}

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
function checkSeals(request: Request): readonly Violation[] {
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
}

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
        isLatest
          ? report(rules['thinking-modified'], path)
          : report(rules['thinking-signature-invalid'], path, type),
      ];
    case 'tampered':
      return [report(rules['thinking-signature-invalid'], path, type)];
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
      verdict === 'gap' ? rules['gap-in-thinking'] : rules['thinking-behind-another-prefix'],
      path,
      type,
      !hasControls,
    ),
  ];
}
