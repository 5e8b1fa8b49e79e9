import { anyCommand } from './clients/any-command.ts';
import { claudeCode } from './clients/claude-code.ts';
import type { Client } from './clients/client.ts';
import { codex } from './clients/codex.ts';
import { geminiCli } from './clients/gemini-cli.ts';
import { opencode } from './clients/opencode.ts';
import { pi } from './clients/pi.ts';

/** Clients that `roundfold run` knows. A new one is a file and a line here. */
export const clients: readonly Client[] = [claudeCode, codex, opencode, pi, geminiCli];

/** The client that a command starts: `claude`, `/usr/local/bin/codex`, `pi.cmd`. Whoever is not known reads variables. */
export function clientFor(command: string): Client {
  const name = (command.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:exe|cmd|ps1|js)$/i, '');
  return clients.find(({ commands }) => commands.includes(name)) ?? anyCommand;
}
