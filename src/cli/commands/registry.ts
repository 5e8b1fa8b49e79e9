import type { CommandDefinition } from '../command.ts';
import { check } from './check.ts';
import { compact } from './compact.ts';
import { compare } from './compare.ts';
import { inspect } from './inspect.ts';
import { simulate } from './simulate.ts';

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandDefinition[] = [inspect, check, compact, compare, simulate];
