import type { CommandDefinition } from '../command.ts';
import { check } from './check.ts';
import { inspect } from './inspect.ts';

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandDefinition[] = [inspect, check];
