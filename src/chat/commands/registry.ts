import type { ChatCommand } from './command.ts';
import { compact, preview, redo, undo, verbose } from './compacting.ts';
import { exportRequest, load, pin, quit, save } from './keeping.ts';
import { context, cost, model, recall } from './looking.ts';

/** Every slash command but `/help`, which is made from this list. */
export const chatCommands: readonly ChatCommand[] = [
  compact,
  preview,
  undo,
  redo,
  verbose,
  context,
  pin,
  recall,
  model,
  cost,
  save,
  load,
  exportRequest,
  quit,
];
