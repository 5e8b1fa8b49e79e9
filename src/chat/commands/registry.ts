import type { ChatCommand } from './command.ts';
import { compact } from './compact.ts';
import { context } from './context.ts';
import { cost } from './cost.ts';
import { exportRequest } from './export.ts';
import { load } from './load.ts';
import { model } from './model.ts';
import { pin } from './pin.ts';
import { preview } from './preview.ts';
import { quit } from './quit.ts';
import { recall } from './recall.ts';
import { save } from './save.ts';
import { redo, undo } from './undo.ts';
import { verbose } from './verbose.ts';

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
