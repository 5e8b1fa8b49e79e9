import type { CommandDefinition, CommandGroup } from './command.ts';

/** Where the words of a process's command line begin: its program and its script come first. */
const FIRST_WORD = 2;

/**
 * Puts `--` before the command line that a command takes for its own, so that `roundfold run codex --json` gives `--json` to
 * codex. The same words where there is one already, or nothing to separate.
 */
export function separateCommandLine(
  argv: readonly string[],
  commands: readonly (CommandDefinition | CommandGroup)[],
): readonly string[] {
  const command = commands.find((each) => 'takesCommandLine' in each && each.takesCommandLine === true);
  const start = argv.findIndex((word, index) => index >= FIRST_WORD && !word.startsWith('-'));
  if (command === undefined || !('options' in command) || argv[start] !== command.name) return argv;
  const valued = new Set(
    command.options
      .filter(({ flags }) => flags.includes('<'))
      .flatMap(({ flags }) => flags.split(/[ ,]+/).filter((word) => word.startsWith('-'))),
  );
  for (let index = start + 1; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') return argv;
    if (!word.startsWith('-')) return [...argv.slice(0, index), '--', ...argv.slice(index)];
    if (valued.has(word)) index++;
  }
  return argv;
}
