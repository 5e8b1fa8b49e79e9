import { RoundfoldError } from '../conversation/errors.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';

/** Names a tenant by what nobody should put on a command line. */
export const keyOption: OptionDefinition = {
  flags: '--key-stdin',
  help: 'whose: the API key, or the value of the tenant header, is read from standard input',
};

/** Longer than any key; a file that was meant for something else is refused. */
const LONGEST_KEY = 64 * 1024;

/**
 * The tenant that the options name; undefined when they name none. A key is made the same name of as by the proxy, and goes
 * no further.
 * @throws RoundfoldError `usage` when they name two, or standard input holds no key
 */
export async function readTenant(given: GivenArguments): Promise<string | undefined> {
  const named = given.text('tenant');
  if (!given.flag('keyStdin')) return named;
  if (named !== undefined) {
    throw new RoundfoldError('usage', '--tenant and --key-stdin both name a tenant', {
      remedy: 'Give one of them.',
    });
  }
  const { tenantOfKey } = await import('../proxy/caller.ts');
  return tenantOfKey(await readKey());
}

async function readKey(): Promise<string> {
  if (process.stdin.isTTY) throw noKey('would be typed in sight');
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > LONGEST_KEY) throw noKey('is too long for one');
  }
  const key = text.trim();
  if (key === '') throw noKey('is empty');
  if (key.includes('\n')) throw noKey('has several lines');
  return key;
}

function noKey(what: string): RoundfoldError {
  return new RoundfoldError('usage', `the key on standard input ${what}`, {
    remedy: 'Pipe it in: printf %s "$ANTHROPIC_API_KEY" | roundfold store …',
  });
}
