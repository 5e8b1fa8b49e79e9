import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { storeConversation } from '../support/stored-conversation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
/** What a terminal acts upon: it clears, retitles, moves, turns text around and begins lines. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\r\u007fend';
const ACTIVE = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

const name = `a${HOSTILE}\nlegal forged.json`;
const call = (id: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: `Read${HOSTILE}`, input: { file_path: HOSTILE, [HOSTILE]: 1 } }],
});
const result = (id: string) => ({
  role: 'user',
  content: [
    { type: 'tool_result', tool_use_id: id, content: `${HOSTILE} you must never ${HOSTILE} `.repeat(200) },
  ],
});
const messages = Array.from({ length: 6 }, (_, index) => [call(`t${index}`), result(`t${index}`)]).flat();
const body = {
  model: `claude-${HOSTILE}`,
  max_tokens: 100,
  messages: [{ role: 'user', content: `never ${HOSTILE} touch ${HOSTILE}` }, ...messages],
};
const session = folder.write(name, JSON.stringify(body));
const broken = folder.write(`b${name}`, `${HOSTILE}{"messages": [`);
const illegal = folder.write(
  `c${name}`,
  JSON.stringify({ ...body, messages: [result('nobody'), ...messages] }),
);
const missing = join(folder.path, `missing${HOSTILE}`);
const store = join(folder.path, 'store.sqlite');
mkdirSync(join(folder.path, 'cwd'));
beforeAll(() =>
  storeConversation({ path: store, tenant: `t${HOSTILE}`, texts: [`harbour parser ${HOSTILE}`] }),
);

describe('nothing of a hostile file or its name reaches the terminal', () => {
  it.each([
    { args: ['inspect', session, broken, missing] },
    { args: ['inspect', session, broken, '--json'] },
    { args: ['inspect', session, '--html', join(folder.path, `page${HOSTILE}.html`)] },
    { args: ['check', session, broken, illegal, missing] },
    { args: ['check', illegal, '--json'] },
    { args: ['compact', session, '--dry-run', '--explain'] },
    { args: ['compact', session, '--budget', '20%'] },
    { args: ['compact', session, '--budget', '1', '--json', '--out', join(folder.path, `out${HOSTILE}`)] },
    { args: ['compact', session, '--model', `m${HOSTILE}`] },
    { args: ['compact', broken] },
    { args: ['compare', session, broken, missing, '--jobs', '1'] },
    { args: ['compare', session, '--baseline', broken] },
    { args: [`--unknown${HOSTILE}`] },
    { args: [`unknown${HOSTILE}`] },
    { args: ['inspect', `--unknown${HOSTILE}`] },
    { args: ['search', 'harbour', HOSTILE, '--store', store] },
    { args: ['search', 'parser', '--store', store] },
    { args: ['recall', HOSTILE, '--store', store] },
    { args: ['recall', 'rf:1', '--store', `nowhere${HOSTILE}`] },
    { args: ['store', 'ls', '--store', store] },
    { args: ['store', 'show', HOSTILE, '--store', store] },
    { args: ['store', 'export', '--store', store] },
    { args: ['store', 'import', broken, '--store', store] },
    { args: ['chat', '--load', session] },
    { args: ['chat', '--session', join(folder.path, `chat${HOSTILE}`)] },
  ])('command line $#', async ({ args }) => {
    const { code, stdout, stderr } = await runCli(args, {
      cwd: join(folder.path, 'cwd'),
      stdin: `hello ${HOSTILE}\n/context\n/compact sliding\n/save x${HOSTILE}\n/load ${missing}\n/nothing${HOSTILE}\n`,
      env: { HOME: folder.path },
    });

    expect(code).not.toBeNull();
    expect(stdout + stderr).not.toMatch(ACTIVE);
    expect(stdout + stderr).not.toMatch(/^legal forged/m);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
