import type { WordedRule } from './worded-rule.ts';

const boundElsewhere =
  'The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const headerNeeded = ' This needs the `thinking-binding-controls-2026-08-01` beta header.';

/** Rules about single content blocks: text, caching, images, thinking, compaction. */
export const blockRules = {
  emptyText: {
    id: 'empty-text',
    alias: 'A12',
    title: 'text is not empty',
    fix: 'Remove the empty text block.',
    evidence: 'reported',
    wording: (_path: string, place: string): string => `${place}: text content blocks must be non-empty`,
  },
  blankText: {
    id: 'blank-text',
    alias: 'A13',
    title: 'text is not blank',
    fix: 'Remove the blank text block.',
    evidence: 'reported',
    wording: (_path: string, place: string): string =>
      `${place}: text content blocks must contain non-whitespace text`,
  },
  tooManyCacheBreakpoints: {
    id: 'too-many-cache-breakpoints',
    alias: 'A32',
    title: 'at most 4 cache breakpoints',
    fix: 'Remove breakpoints; automatic caching counts as one.',
    evidence: 'reported',
    wording: (_path: string, found: number): string =>
      `A maximum of 4 blocks with cache_control may be provided. Found ${found}.`,
  },
  cacheBreakpointOnEmptyText: {
    id: 'cache-breakpoint-on-empty-text',
    alias: 'A33',
    title: 'no breakpoint on empty text',
    fix: 'Remove the empty text block.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: cache_control cannot be set for empty text blocks`,
  },
  imagesOverLimit: {
    id: 'images-over-limit',
    alias: 'A35',
    title: 'images are within the limits of number and size',
    fix: 'Shrink the image or send fewer images.',
    evidence: 'reported',
    wording: (path: string, fault: string): string => `${path}: ${fault}`,
  },
  thinkingModified: {
    id: 'thinking-modified',
    alias: 'A37',
    title: 'thinking of the latest turn is unchanged',
    fix: 'Send the blocks back exactly as they came.',
    evidence: 'documented',
    wording: (path: string): string =>
      `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  },
  thinkingMissingInToolLoop: {
    id: 'thinking-missing-in-tool-loop',
    alias: 'A38',
    title: 'a tool loop with manual thinking starts with thinking',
    fix: 'Keep the leading thinking block of the running tool loop, or use adaptive thinking.',
    evidence: 'reported',
    wording: (path: string, found: string): string =>
      `${path}: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  },
  thinkingSignatureMissing: {
    id: 'thinking-signature-missing',
    alias: 'A39',
    title: 'thinking has its signature',
    fix: 'Keep the signature, or remove the whole block.',
    evidence: 'reported',
    wording: (path: string): string => `${path}: Field required`,
  },
  thinkingSignatureInvalid: {
    id: 'thinking-signature-invalid',
    alias: 'A40',
    title: 'the signature fits',
    fix: 'Send the block back exactly as it came, or remove it.',
    evidence: 'reported',
    wording: (path: string, type: string): string => `${path}: Invalid \`signature\` in \`${type}\` block`,
  },
  thinkingBehindAnotherPrefix: {
    id: 'thinking-behind-another-prefix',
    alias: 'A41',
    title: 'thinking stands behind the prefix it was issued behind',
    fix: 'Remove this thinking block and all later ones, or ask for `drop_block`.',
    evidence: 'documented',
    wording: (path: string, type: string, isHeaderMissing: boolean): string =>
      `${path}: Invalid \`signature\` in \`${type}\` block. ${boundElsewhere}${isHeaderMissing ? headerNeeded : ''}`,
  },
  cacheBreakpointsOutOfOrder: {
    id: 'cache-breakpoints-out-of-order',
    alias: 'A47',
    title: '1 h breakpoints before 5 m ones',
    fix: 'Put the 1 h breakpoints first, in the order tools, system, messages.',
    evidence: 'reported',
    wording: (path: string): string =>
      `${path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
  },
  gapInThinking: {
    id: 'gap-in-thinking',
    alias: 'A48',
    title: 'kept thinking is one unbroken run',
    fix: 'Remove this thinking block and all later ones, or all earlier ones.',
    evidence: 'inferred',
    wording: (path: string, type: string, isHeaderMissing: boolean): string =>
      `${path}: Invalid \`signature\` in \`${type}\` block. ${boundElsewhere}${isHeaderMissing ? headerNeeded : ''}`,
  },
  malformedToolCallId: {
    id: 'malformed-tool-call-id',
    alias: 'A49',
    title: 'call ids have a pattern',
    fix: 'Use letters, digits, underscores and hyphens only.',
    evidence: 'types',
    wording: (path: string): string => `${path}: String should match pattern '^[a-zA-Z0-9_-]+$'`,
  },
  compactionBlockAmbiguous: {
    id: 'compaction-block-ambiguous',
    alias: 'compaction_block_ambiguous',
    title: 'one signed compaction block',
    fix: 'Keep the newest compaction block only, and do not mix both kinds of compaction.',
    evidence: 'documented',
    wording: (path: string): string =>
      `${path}: a request may hold exactly one signed \`compaction\` block and no other kind of compaction`,
  },
  compactionBlockMisplaced: {
    id: 'compaction-block-misplaced',
    alias: 'compaction_block_misplaced',
    title: 'a signed compaction block is first',
    fix: 'Make it the first block of the first message and remove what it summarises.',
    evidence: 'documented',
    wording: (path: string): string =>
      `${path}: a signed \`compaction\` block must be the first block of the first message, an unsigned one must be in an \`assistant\` message`,
  },
  compactionIncompleteTurn: {
    id: 'compaction-incomplete-turn',
    alias: 'compaction_incomplete_turn',
    title: 'no compaction while a call is open',
    fix: 'Answer the pending tool calls before asking for a compaction.',
    evidence: 'documented',
    wording: (path: string, ids: readonly string[]): string =>
      `${path}: cannot compact a conversation with pending tool calls: ${ids.join(', ')}`,
  },
  compactionSignatureInvalid: {
    id: 'compaction-signature-invalid',
    alias: 'compaction_signature_invalid',
    title: 'the compaction block’s signature fits',
    fix: 'Send the block back exactly as it came.',
    evidence: 'documented',
    wording: (path: string): string => `${path}: Invalid \`signature\` in \`compaction\` block`,
  },
  compactionContentMismatch: {
    id: 'compaction-content-mismatch',
    alias: 'compaction_content_mismatch',
    title: 'the compaction block is unmodified',
    fix: 'Send the block back exactly as it came.',
    evidence: 'documented',
    wording: (path: string): string =>
      `${path}: the content of the \`compaction\` block does not match its signature`,
  },
} as const satisfies Readonly<Record<string, WordedRule<never[]>>>;
