import type { Violation } from '../contract.ts';
import { isGiven, isObject, read, readList, readText } from '../json-value.ts';
import type { Block, Check, Message, Request } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

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

/** Compaction blocks: unchanged, at most one, in place, and validly signed where that can be judged. */
export const checkCompactionBlocks: Check = (request) => {
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
};

function checkFields({ value, path }: Block): Violation[] {
  return Object.keys(value)
    .filter((name) => !blockFields.has(name))
    .map((name) => report(rules.unknownField, `${path}.compaction.${name}`));
}

function checkPlaces(found: readonly CompactionBlock[], request: Request): Violation[] {
  const signed = found.filter(({ isSigned }) => isSigned);
  const rival = signed.length > 0 ? found[1] : undefined;
  if (rival !== undefined) return [report(rules.compactionBlockAmbiguous, rival.block.path)];
  if (signed.length > 0 && editsOf(request).some(({ type }) => type === 'compact_20260112')) {
    return [report(rules.compactionBlockAmbiguous, 'context_management.edits')];
  }
  return found
    .filter((entry) => !isPlaced(entry))
    .map(({ block }) => report(rules.compactionBlockMisplaced, block.path));
}

function isPlaced({ block, message, isSigned }: CompactionBlock): boolean {
  return isSigned ? block.path === 'messages.0.content.0' : message.role === 'assistant';
}

function checkSeal({ value, path }: Block, { context, body }: Request): Violation[] {
  const verdict = context.seals?.({ kind: 'compaction', value, path, body });
  if (verdict === 'tampered') return [report(rules.compactionSignatureInvalid, path)];
  return verdict === 'modified' ? [report(rules.compactionContentMismatch, path)] : [];
}

/** What a request for a compaction goes together with, and context edits. */
export const checkCompactionRequest: Check = (request) => [...checkOnDemand(request), ...checkEdits(request)];

function checkOnDemand({ body, facts }: Request): Violation[] {
  const compaction = read(body, 'compaction');
  if (!isObject(compaction)) return [];
  const refused: readonly (readonly [path: string, isRefused: boolean])[] = [
    ['context_management', isGiven(read(body, 'context_management'))],
    ['stop_sequences', readList(body, 'stop_sequences').length > 0],
    ['output_config.format', isGiven(read(read(body, 'output_config'), 'format'))],
    ['output_format', isGiven(read(body, 'output_format'))],
    ['output_config.task_budget.remaining', hasRemainingBudget(body)],
    ['tool_choice', ['any', 'tool'].includes(readText(read(body, 'tool_choice'), 'type') ?? '')],
  ];
  const instructions = readText(compaction, 'instructions')?.length ?? 0;
  return [
    ...(facts.takesCompaction
      ? []
      : [report(rules.invalidCompactionRequest, 'compaction', 'not supported for this model')]),
    ...(instructions > maxInstructions
      ? [
          report(
            rules.invalidCompactionRequest,
            'compaction.instructions',
            `String should have at most ${maxInstructions} characters`,
          ),
        ]
      : []),
    ...refused
      .filter(([, isRefused]) => isRefused)
      .map(([path]) => report(rules.invalidCompactionRequest, path, 'cannot be combined with `compaction`')),
  ];
}

function hasRemainingBudget(body: unknown): boolean {
  return isGiven(read(read(read(body, 'output_config'), 'task_budget'), 'remaining'));
}

function checkEdits(request: Request): Violation[] {
  return editsOf(request).flatMap(({ type, path, value }, index) => {
    if (type === 'clear_thinking_20251015' && index > 0) {
      return [report(rules.invalidContextEdits, path, `\`${type}\` must be the first edit`)];
    }
    const trigger = type === 'compact_20260112' ? read(read(value, 'trigger'), 'value') : undefined;
    const isTooLow = typeof trigger === 'number' && trigger < minTriggerTokens;
    return isTooLow
      ? [
          report(
            rules.invalidContextEdits,
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
