import type { RuleRow } from '../finding.ts';
import { describeType } from '../json-value.ts';

/** The rules of `POST /v1/responses`, with the server's own texts. */
export const responsesRules = {
  wrongKindOfValue: {
    id: 'wrong-kind-of-value',
    alias: 'R0',
    title: 'every field holds the kind of value the schema names',
    fix: 'Give the field the kind of value the schema names.',
    evidence: 'inferred',
    wording: (path: string, expected: string, value: unknown) =>
      `Invalid type for '${path}': expected ${expected}, but got ${describeType(value)} instead.`,
  },
  missingField: {
    id: 'missing-field',
    alias: 'R0',
    title: 'required fields are there',
    fix: 'Add the missing field.',
    evidence: 'inferred',
    wording: (path: string) => `Missing required parameter: '${path}'.`,
  },
  itemWithoutReasoning: {
    id: 'item-without-reasoning',
    alias: 'R1',
    title: 'an item the model wrote after thinking comes with its reasoning item',
    fix: 'Send the reasoning item directly before it, or remove the id of this item.',
    evidence: 'reported',
    wording: (id: string, type: string) =>
      `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: 'rs_…'.`,
  },
  reasoningWithoutFollowingItem: {
    id: 'reasoning-without-following-item',
    alias: 'R2',
    title: 'a reasoning item comes with the item that followed it',
    fix: 'Send the item that followed it, with its id, directly behind it, or remove the reasoning item.',
    evidence: 'reported',
    wording: (id: string) =>
      `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  },
  toolCallWithoutResult: {
    id: 'tool-call-without-result',
    alias: 'R3',
    title: 'every call is answered',
    fix: 'Send the output of the call, or remove the call.',
    evidence: 'reported',
    wording: {
      openai: (id: string, kind: string) => `No tool output found for ${kind} ${id}.`,
      deepseek: (id: string) => `No tool output found for tool call ${id}.`,
    },
  },
  toolResultWithoutCall: {
    id: 'tool-result-without-call',
    alias: 'R4',
    title: 'every output answers a call that stands before it',
    fix: 'Send the call before its output, or remove the output.',
    evidence: 'reported',
    wording: {
      openai: (id: string, kind: string) => `No tool call found for ${kind} with call_id ${id}.`,
      deepseek: (id: string) => `No tool call found for tool output with call_id ${id}.`,
    },
  },
  malformedItemId: {
    id: 'malformed-item-id',
    alias: 'R5',
    title: 'the id of an item begins as the server gives it out',
    fix: 'Send the id the server gave, or leave the id out.',
    evidence: 'reported',
    wording: (path: string, id: string, prefix: string) =>
      `Invalid '${path}': '${id}'. Expected an ID that begins with '${prefix}'.`,
  },
  previousResponseNotFound: {
    id: 'previous-response-not-found',
    alias: 'R6',
    title: 'the previous response is still stored',
    fix: 'Send the whole history as input instead of previous_response_id.',
    evidence: 'reported',
    wording: (id: string) => `Previous response with id '${id}' not found.`,
  },
  encryptedContentInvalid: {
    id: 'encrypted-content-invalid',
    alias: 'R7',
    title: 'encrypted content goes back as it came, under the id it came with',
    fix: 'Restore the value and the id of the item as the server sent them, or remove the item.',
    evidence: 'reported',
    wording: (content: string) =>
      `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
  },
  storedItemNotFound: {
    id: 'stored-item-not-found',
    alias: 'R8',
    title: 'an item sent by its id alone is still stored',
    fix: 'Send the item with its content, or remove it.',
    evidence: 'reported',
    wording: (id: string) =>
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  },
  conflictingCacheControls: {
    id: 'conflicting-cache-controls',
    alias: 'R9',
    title: 'one cache control, not both',
    fix: 'Send either prompt_cache_options or prompt_cache_retention.',
    evidence: 'documented',
    wording: () => "'prompt_cache_options' and 'prompt_cache_retention' cannot be used together.",
  },
  compactionTriggerNotLast: {
    id: 'compaction-trigger-not-last',
    alias: 'R10',
    title: 'a compaction trigger is the last input item',
    fix: 'Move the compaction trigger to the end of the input.',
    evidence: 'types',
    wording: (path: string) =>
      `Invalid '${path}': an item of type 'compaction_trigger' must be the final input item.`,
  },
  duplicateItemId: {
    id: 'duplicate-item-id',
    alias: 'R11',
    title: 'no two items have the same id',
    fix: 'Keep one item per id.',
    evidence: 'reported',
    wording: (id: string) =>
      `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
  },
  toolCallIdTooLong: {
    id: 'tool-call-id-too-long',
    alias: 'R12',
    title: 'call ids have at most 64 characters',
    fix: 'Map long call ids to shorter ones, in the call and in its output.',
    evidence: 'reported',
    wording: (path: string, length: number) =>
      `Invalid '${path}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`,
  },
} as const satisfies Readonly<Record<string, RuleRow & { readonly wording: unknown }>>;
