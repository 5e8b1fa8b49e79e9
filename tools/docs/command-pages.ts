import type { Command } from 'commander';
import { chatCommands } from '../../src/chat/commands/registry.ts';
import { commands } from '../../src/cli/commands/registry.ts';
import { createProgram } from '../../src/cli/program.ts';
import { code, fence, type Page, sentence, table } from './markdown.ts';

const COLUMNS = 80;

/** A page for each command: what `--help` says, that of its own commands included. */
export function commandPages(): readonly Page[] {
  const program = createProgram(commands, '', () => undefined);
  return commands.map(({ name, summary }) => {
    const command = program.commands.find((one) => one.name() === name);
    if (command === undefined) throw new Error(`the program has no command ${name}`);
    const inner = command.commands.filter((one) => one.name() !== 'help');
    return {
      path: `commands/${name}.md`,
      title: `roundfold ${name}`,
      summary: sentence(summary),
      body: [
        fence(helpText(command)),
        ...inner.map((one) => `## roundfold ${name} ${one.name()}\n\n${fence(helpText(one))}`),
        ...(name === 'chat' ? [slashCommands()] : []),
      ].join('\n'),
    };
  });
}

/** What can be typed in a chat beside what is said to the model. */
function slashCommands(): string {
  const rows = chatCommands.map(({ name, usage, summary }) => [code(`/${name} ${usage}`.trim()), summary]);
  return `## Slash commands\n\n${table(['command', 'what it does'], [...rows, [code('/help'), 'list these commands']])}`;
}

function helpText(command: Command): string {
  const written: string[] = [];
  command.configureOutput({
    writeOut: (text) => written.push(text),
    getOutHelpWidth: () => COLUMNS,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return written.join('');
}
