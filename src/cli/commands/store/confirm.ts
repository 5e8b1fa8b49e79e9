import { createInterface } from 'node:readline';
import { RoundfoldError } from '../../../conversation/errors.ts';

type Answer = 'yes' | 'no' | 'interrupted';

/**
 * Asks a person whether something shall be deleted for good.
 * @throws RoundfoldError `usage` where nobody is there to answer
 */
export async function askToDelete(what: string): Promise<Answer> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new RoundfoldError('usage', 'nobody is there to confirm the deletion', {
      remedy: 'Give --yes to delete without a question.',
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<Answer>((answer) => {
      const leave = (how: Answer) => {
        // The cursor is still on the line of the question.
        process.stderr.write('\n');
        answer(how);
      };
      terminal.once('SIGINT', () => leave('interrupted'));
      terminal.once('close', () => leave('no'));
      terminal.question(`Delete ${what} for good? [y/N] `, (text) =>
        answer(/^y(es)?$/i.test(text.trim()) ? 'yes' : 'no'),
      );
    });
  } finally {
    terminal.removeAllListeners('close').close();
  }
}
