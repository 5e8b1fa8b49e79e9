import type { Violation } from '../contract.ts';
import { isGiven, isObject, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import type { Block, Message, Request } from './request.ts';
import { valueRules } from './values.ts';

const rules = defineRules({
  'invalid-compaction-request': {
    alias: 'A50',
    title: 'a compaction request goes together with nothing it excludes',
    fix: 'Remove the named field from the compaction request.',
    evidence: 'documented',
    wording: (path: string, reason: string) => `${path}: ${reason}`,
  },
  'invalid-context-edits': {
    alias: 'A51',
    title: 'context edits are in order, and start late enough',
    fix: 'Correct the edits of `context_management`.',
    evidence: 'documented',
    wording: (path: string, reason: string) => `${path}: ${reason}`,
  },
  'compaction-block-ambiguous': {
    alias: 'compaction_block_ambiguous',
    title: 'one signed compaction block',
    fix: 'Keep the newest compaction block only, and do not mix both kinds of compaction.',
    evidence: 'documented',
    wording: (path: string) =>
      `${path}: a request may hold exactly one signed \`compaction\` block and no other kind of compaction`,
  },
  'compaction-block-misplaced': {
    alias: 'compaction_block_misplaced',
    title: 'a signed compaction block is first',
    fix: 'Make it the first block of the first message and remove what it summarises.',
    evidence: 'documented',
    wording: (path: string) =>
      `${path}: a signed \`compaction\` block must be the first block of the first message, an unsigned one must be in an \`assistant\` message`,
  },
  'compaction-signature-invalid': {
    alias: 'compaction_signature_invalid',
    title: 'the compaction block’s signature fits',
    fix: 'Send the block back exactly as it came.',
    evidence: 'documented',
    wording: (path: string) => `${path}: Invalid \`signature\` in \`compaction\` block`,
  },
  'compaction-content-mismatch': {
    alias: 'compaction_content_mismatch',
    title: 'the compaction block is unmodified',
    fix: 'Send the block back exactly as it came.',
    evidence: 'documented',
    wording: (path: string) =>
      `${path}: the content of the \`compaction\` block does not match its signature`,
  },
});

const maxInstructions = 16_384;
const minTriggerTokens = 50_000;
const blockFields: ReadonlySet<string> = new Set([
  'type',
  'content',
  'encrypted_content',
  'signature',
  'tool_changes',
  'cache_control',
]);

interface CompactionBlock {
  readonly block: Block;
  readonly message: Message;
  /** Made on demand; blocks of threshold compaction carry no signature. */
  readonly isSigned: boolean;
}

/** Compaction by the provider: what a request for it goes together with, context edits, and its blocks. */
export const anthropicCompaction: RuleGroup<Request> = {
  rules,
  check: (request) => [...checkOnDemand(request), ...checkEdits(request), ...checkBlocks(request)],
};

/** Compaction blocks: unchanged, at most one, in place, and validly signed where that can be judged. */
function checkBlocks(request: Request): readonly Violation[] {
  const found = request.messages.flatMap((message) =>
    message.blocks
      .filter(({ type }) => type === 'compaction')
      .map((block) => ({ block, message, isSigned: isGiven(read(block.value, 'signature')) })),
  );
  return [
    ...found.flatMap(({ block }) => checkFields(block)),
    ...checkPlaces(found, request),
    ...found.filter(({ isSigned }) => isSigned).flatMap(({ block }) => checkSeal(block, request)),
  ];
}

function checkFields({ value, path }: Block): Violation[] {
  return Object.keys(value)
    .filter((name) => !blockFields.has(name))
    .map((name) => report(valueRules['unknown-field'], `${path}.compaction.${name}`));
}

function checkPlaces(found: readonly CompactionBlock[], request: Request): Violation[] {
  const signed = found.filter(({ isSigned }) => isSigned);
  const rival = signed.length > 0 ? found[1] : undefined;
  if (rival !== undefined) return [report(rules['compaction-block-ambiguous'], rival.block.path)];
  if (signed.length > 0 && editsOf(request).some(({ type }) => type === 'compact_20260112')) {
    return [report(rules['compaction-block-ambiguous'], 'context_management.edits')];
  }
  return found
    .filter((entry) => !isPlaced(entry))
    .map(({ block }) => report(rules['compaction-block-misplaced'], block.path));
}

function isPlaced({ block, message, isSigned }: CompactionBlock): boolean {
  return isSigned ? block.path === 'messages.0.content.0' : message.role === 'assistant';
}

function checkSeal({ value, path }: Block, { context, body }: Request): Violation[] {
  const verdict = context.seals?.({ kind: 'compaction', value, path, body });
  if (verdict === 'tampered') return [report(rules['compaction-signature-invalid'], path)];
  return verdict === 'modified' ? [report(rules['compaction-content-mismatch'], path)] : [];
}

function checkOnDemand({ body, facts, isWhole }: Request): Violation[] {
  const asked = read(body, 'compaction');
  if (!isWhole || !isObject(asked)) return [];
  const { length } = readText(asked, 'instructions') ?? '';
  const output = read(body, 'output_config');
  const excluded = 'cannot be combined with `compaction`';
  const faults: readonly (readonly [path: string, isFault: boolean, reason: string])[] = [
    ['compaction', !facts.takesCompaction, 'not supported for this model'],
    [
      'compaction.instructions',
      length > maxInstructions,
      `String should have at most ${maxInstructions} characters`,
    ],
    ['context_management', isGiven(read(body, 'context_management')), excluded],
    ['stop_sequences', readList(body, 'stop_sequences').length > 0, excluded],
    ['output_config.format', isGiven(read(output, 'format')), excluded],
    ['output_format', isGiven(read(body, 'output_format')), excluded],
    [
      'output_config.task_budget.remaining',
      isGiven(read(read(output, 'task_budget'), 'remaining')),
      excluded,
    ],
    ['tool_choice', ['any', 'tool'].includes(readText(read(body, 'tool_choice'), 'type') ?? ''), excluded],
  ];
  return faults
    .filter(([, isFault]) => isFault)
    .map(([path, , reason]) => report(rules['invalid-compaction-request'], path, reason));
}

function checkEdits(request: Request): Violation[] {
  return editsOf(request).flatMap(({ type, path, value }, index) => {
    if (type === 'clear_thinking_20251015' && index > 0) {
      return [report(rules['invalid-context-edits'], path, `\`${type}\` must be the first edit`)];
    }
    const trigger = type === 'compact_20260112' ? read(read(value, 'trigger'), 'value') : undefined;
    const isTooLow = typeof trigger === 'number' && trigger < minTriggerTokens;
    return isTooLow
      ? [
          report(
            rules['invalid-context-edits'],
            `${path}.trigger.value`,
            `Input should be greater than or equal to ${minTriggerTokens}`,
          ),
        ]
      : [];
  });
}

function editsOf({
  body,
  isWhole,
}: Request): readonly { type: string | undefined; path: string; value: unknown }[] {
  if (!isWhole) return [];
  return readList(read(body, 'context_management'), 'edits').map((value, index) => ({
    type: readText(value, 'type'),
    path: `context_management.edits.${index}`,
    value,
  }));
}
