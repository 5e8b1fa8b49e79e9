import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { countOf } from '../../report/terminal.ts';
import type { StoredConversation } from '../../stores/store.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeJson } from '../report.ts';
import { findConversation } from './find-conversation.ts';
import { jsonOption, storeOption, tenantOption } from './options.ts';
import { overStore, type StoreWork } from './over-store.ts';
import { formatBytes } from './short-forms.ts';

/** `roundfold store forget`: deletes a conversation. */
export const forget: CommandDefinition = {
  name: 'forget',
  summary: 'delete every record of a conversation for good',
  arguments: '<id>',
  argumentHelp: 'of the conversation; its beginning is enough',
  options: [{ flags: '-y, --yes', help: 'do not ask' }, tenantOption, storeOption, jsonOption],
  examples: [['roundfold store forget 3fa9', 'asks before it deletes']],
  run: (given, terminal) => overStore(given, terminal, run),
};

async function run({ given, report, access }: StoreWork): Promise<ExitCode> {
  const store = access.forReading();
  const id = given.positional[0] ?? '';
  const found = await findConversation(store, { id, tenant: given.text('tenant') });
  const answer = given.flag('yes') ? 'yes' : await ask(found);
  if (answer !== 'yes') {
    report.terminal.talk('nothing was deleted\n');
    return answer === 'no' ? exitCodes.failed : exitCodes.interrupted;
  }
  const { tenant, conversation } = found;
  const records = (await store?.forget({ tenant, conversation })) ?? 0;
  if (report.json) writeJson(report, 'forgotten', { tenant, conversation, records });
  else report.terminal.out(`deleted ${countOf(records, 'record')} of ${printable(conversation)}\n`);
  return exitCodes.done;
}

type Answer = 'yes' | 'no' | 'interrupted';

async function ask(one: StoredConversation): Promise<Answer> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new RoundfoldError('usage', 'nobody is there to confirm the deletion', {
      remedy: 'Give --yes to delete without a question.',
    });
  }
  const records = `${countOf(one.checkpoints, 'checkpoint')} and ${countOf(one.spans, 'span')}, ${formatBytes(one.bytes)}`;
  const question = `Delete conversation ${printable(one.conversation)} (${records}) for good? [y/N] `;
  // Loaded here: every other command does without.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<Answer>((answer) => {
      const leave = (how: Answer) => {
        // The question stands on this line still.
        process.stderr.write('\n');
        answer(how);
      };
      terminal.once('SIGINT', () => leave('interrupted'));
      terminal.once('close', () => leave('no'));
      terminal.question(question).then(
        (text) => answer(/^y(es)?$/i.test(text.trim()) ? 'yes' : 'no'),
        () => answer('no'),
      );
    });
  } finally {
    terminal.removeAllListeners('close').close();
  }
}
