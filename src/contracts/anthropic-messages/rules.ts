import { blockRules } from './rules-blocks.ts';
import { frameRules } from './rules-frame.ts';
import { turnRules } from './rules-turns.ts';

/**
 * Every rule of the Messages API that can be judged from a request alone, by id.
 *
 * Not listed: A7 (only the server knows its models) and A10 (consecutive turns of one role are accepted).
 * Rules above A43 have no number of their own in the provider's documentation; the ids that are words are its error codes.
 */
export const rules = { ...frameRules, ...turnRules, ...blockRules };
