import type { CommandDefinition, CommandGroup } from '../command.ts';
import { chat } from './chat.ts';
import { check } from './check.ts';
import { compact } from './compact.ts';
import { compare } from './compare.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { handoff } from './handoff.ts';
import { hook } from './hook.ts';
import { inspect } from './inspect.ts';
import { mcp } from './mcp.ts';
import { proxy } from './proxy.ts';
import { recall } from './recall.ts';
import { run } from './run.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { simulate } from './simulate.ts';
import { store } from './store.ts';

/** Every command, in the order in which help lists them. */
export const commands: readonly (CommandDefinition | CommandGroup)[] = [
  sessions,
  inspect,
  check,
  compact,
  compare,
  chat,
  run,
  handoff,
  recall,
  search,
  store,
  mcp,
  proxy,
  doctor,
  hook,
  simulate,
  demo,
];
