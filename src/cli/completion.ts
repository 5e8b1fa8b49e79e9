import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** Adds `completion <shell>`, which prints a script for bash, zsh, fish or PowerShell. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' });
}
