import { blockRules } from './rules-blocks.ts';
import { frameRules } from './rules-frame.ts';
import { turnRules } from './rules-turns.ts';

/**
 * Every rule of the Messages API that can be judged from a request alone. Whether a model exists, only the server knows;
 * consecutive turns of one role are accepted. Rules about compaction blocks are named after the error codes of the API.
 */
export const rules = { ...frameRules, ...turnRules, ...blockRules };
