/** Recognises, runs and completes slash commands; /help is here. */

import { RoundfoldError } from '../../conversation/errors.ts';
import { drawTable } from '../../report/terminal.ts';
import type { Chat } from '../chat.ts';
import type { Completed } from '../input/editor.ts';
import type { CommandEffect } from './command.ts';
import { chatCommands } from './registry.ts';

const HELP = 'help';
const HINTS = [
  '/compact sliding keeps 6 messages,',
  '/compact summarize 4, /compact none all.',
  'Everything else is said to the model.',
  'Ctrl-C cancels a turn.',
];
const names: readonly string[] = [HELP, ...chatCommands.map(({ name }) => name)];

/** Whether an entry is a command: a slash and one word. A path has more slashes. */
export function isCommand(entry: string): boolean {
  return /^\/[\w-]*(?:\s|$)/.test(entry) && !entry.trim().includes('\n');
}

/** Runs a command. One that is not known, or cannot be done, says so and changes nothing. */
export async function runCommand(entry: string, chat: Chat, signal: AbortSignal): Promise<CommandEffect> {
  const [, word = '', rest = ''] = /^\/([\w-]*)(.*)$/s.exec(entry.trim()) ?? [];
  const argument = rest.trim();
  const name = word.toLowerCase();
  if (name === HELP || name === '') return help(chat);
  const command = chatCommands.find((known) => known.name === name);
  if (command === undefined) {
    const meant = chat.host.nearest(word, names);
    const remedy = meant === undefined ? '/help lists what there is.' : `Did you mean /${meant}?`;
    chat.refuse(`there is no command /${word.slice(0, 40)}; nothing was changed`, remedy);
    return 'stay';
  }
  if (command.usage === '' && argument !== '') {
    chat.refuse(`/${name} takes nothing behind it; nothing was changed`);
    return 'stay';
  }
  try {
    return await command.run(argument, chat, signal);
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    chat.refuse(error.message, error.remedy);
    return 'stay';
  }
}

/** Narrower than this, what a command does stands below it. */
const HELP_COLUMNS = 76;

function help(chat: Chat): CommandEffect {
  const { host } = chat;
  const rows = chatCommands.map(({ name, usage, summary }) => [`/${name} ${usage}`.trim(), summary]);
  if (host.columns() >= HELP_COLUMNS) host.out(drawTable(rows, [{ align: 'left' }, { align: 'left' }]));
  else for (const [usage, summary] of rows) chat.say(`${usage}\n  ${summary}`);
  for (const line of HINTS) chat.say(host.style('dim', line));
  return 'stay';
}

/** What a tab makes of a command that is being written. */
export function completeCommand(text: string): Completed {
  const [, begun] = /^\/([\w-]*)$/.exec(text) ?? [];
  if (begun !== undefined) return complete(text, begun, names);
  const [, name = '', argument] = /^\/([\w-]+) +(\S*)$/.exec(text) ?? [];
  const choices = chatCommands.find((command) => command.name === name)?.choices?.() ?? [];
  return argument === undefined ? { text, choices: [] } : complete(text, argument, choices);
}

function complete(text: string, begun: string, choices: readonly string[]): Completed {
  const fitting = choices.filter((choice) => choice.startsWith(begun));
  const [first] = fitting;
  if (first === undefined) return { text, choices: [] };
  const end = fitting.length === 1 ? ' ' : '';
  return { text: `${text}${commonBeginning(fitting).slice(begun.length)}${end}`, choices: fitting };
}

function commonBeginning(words: readonly string[]): string {
  const [first = ''] = words;
  let length = first.length;
  for (const word of words) while (!word.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}
