import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/stores/registry.ts';
import { createAgent, type Json } from '../support/anthropic-agent.ts';
import { type CliResult, runCli } from '../support/cli.ts';
import { newDatabases } from '../support/new-databases.ts';
import { resultText, startProxied, untilResults } from '../support/proxied.ts';
import { openRaw } from '../support/store-database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

const KEYS = ['sk-ant-leaving-0123456789', 'sk-ant-staying-0123456789'] as const;

const stores = newDatabases();

/** A result that leaves the view with the first fold. */
function beginning(word: string): readonly Json[] {
  const id = 'toolu_first';
  return [
    { role: 'user', content: 'Read all files and report.' },
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read_file', input: { path: 'a' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: resultText(word, 3000) }] },
  ];
}

/** A proxy over the store, and two clients whose conversations are folded by it, each with words of its own. */
async function useProxy(address: string, options: { readonly tenantHeader?: string } = {}): Promise<void> {
  const store = openStore(address);
  const proxied = await startProxied(
    { windowTokens: 40_000, script: untilResults(1000) },
    { store, windowTokens: 16_000, ...options },
  );
  try {
    for (const [index, key] of KEYS.entries()) {
      const word = index === 0 ? 'leavingword' : 'stayingword';
      const agent = createAgent(
        proxied.proxy.url,
        beginning(word),
        options.tenantHeader === undefined ? key : 'one-key-for-all',
      );
      const headers: Record<string, string> =
        options.tenantHeader === undefined ? {} : { [options.tenantHeader]: `team-${word}` };
      await agent.work(30, { headers });
      await proxied.proxy.settle();
    }
  } finally {
    await proxied.close();
    await store.close();
  }
}

const linesOf = ({ stdout }: CliResult) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Every value of every table, as text. */
async function tablesOf(address: string): Promise<string> {
  const raw = await openRaw(address);
  const texts: string[] = [];
  for (const table of ['conversations', 'records', 'leases']) {
    for (const row of await raw.run(`select * from ${table}`))
      for (const value of Object.values(row))
        texts.push(value instanceof Uint8Array ? Buffer.from(value).toString() : String(value));
  }
  await raw.close();
  return texts.join('\n');
}

describe.each(stores)('roundfold store erase, on %s', (_name, addressOf) => {
  it('takes a key from standard input, shows what it would delete, and leaves nothing of its owner', async () => {
    const address = await addressOf();
    await useProxy(address);
    const over = (stdin: string, ...args: readonly string[]) =>
      runCli(['store', ...args, '--store', address, '--json'], { stdin });
    const all = linesOf(await over('', 'ls'));
    const mine = linesOf(await over(`${KEYS[0]}\n`, 'ls', '--key-stdin'));
    expect(new Set(all.map(({ tenant }) => tenant)).size).toBe(2);
    expect(mine).toHaveLength(1);
    const tenant = String(mine[0]?.['tenant']);
    expect(await tablesOf(address)).toContain('leavingword');

    const preview = await over(KEYS[0], 'erase', '--key-stdin', '--dry-run');
    expect(linesOf(preview).at(-1)).toMatchObject({
      type: 'erased',
      isDryRun: true,
      tenant,
      conversations: 1,
    });
    const unconfirmed = await over(KEYS[0], 'erase', '--key-stdin');
    expect(unconfirmed.code).toBe(2);
    expect(unconfirmed.stdout).toContain('--yes');
    expect(await tablesOf(address)).toContain('leavingword');

    const erased = await over(`Bearer ${KEYS[0]}`, 'erase', '--key-stdin', '--yes');
    expect(erased.code).toBe(0);
    expect(linesOf(erased)).toMatchObject([
      { type: 'erased', isDryRun: false, tenant, records: linesOf(preview).at(-1)?.['records'] },
    ]);
    const left = await tablesOf(address);
    expect(left).not.toContain('leavingword');
    expect(left).not.toContain(tenant);
    expect(left).toContain('stayingword');
    expect(linesOf(await over('', 'ls'))).toEqual(all.filter((each) => each['tenant'] !== tenant));

    // No output and no table has ever held a key.
    for (const { stdout, stderr } of [preview, unconfirmed, erased])
      expect(stdout + stderr).not.toContain(KEYS[0]);
    expect(left).not.toContain('sk-ant');
    const again = await over(KEYS[0], 'erase', '--key-stdin', '--yes');
    expect(linesOf(again)).toMatchObject([{ records: 0 }]);
    expect(again.code).toBe(1);
  });

  it('takes the value of the header that names tenants, and a name', async () => {
    const address = await addressOf();
    await useProxy(address, { tenantHeader: 'x-team' });
    const over = (stdin: string, ...args: readonly string[]) =>
      runCli(['store', ...args, '--store', address], { stdin });

    expect(await tablesOf(address)).toContain('leavingword');
    expect((await over('team-leavingword', 'erase', '--key-stdin', '-y')).stdout).toMatch(
      /^deleted \d+ records of/,
    );
    expect(await tablesOf(address)).not.toContain('leavingword');
    const listed = await over('team-stayingword', 'ls', '--key-stdin', '--json');
    const tenant = String(linesOf(listed)[0]?.['tenant']);
    expect((await over('', 'erase', '--tenant', tenant, '-y')).stdout).toContain(`of tenant ${tenant}\n`);
    expect(await tablesOf(address)).not.toContain('stayingword');
    for (const sure of ['-y', '--dry-run']) {
      const { code, stdout, stderr } = await over('', 'erase', '--tenant', tenant, sure);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^nothing is stored of tenant ${tenant}\\n`));
    }
  });
});

describe('roundfold store erase', () => {
  it.each([
    ['nobody', [], '', 'nothing says who shall be erased'],
    ['an empty name', ['--tenant', ''], '', 'nothing says who shall be erased'],
    ['two ways at once', ['--tenant', 'a', '--key-stdin'], 'k', 'both name a tenant'],
    ['an empty key', ['--key-stdin'], '\n', 'is empty'],
    ['several lines', ['--key-stdin'], 'one\ntwo-secret', 'has several lines'],
    ['a whole file', ['--key-stdin'], 'x'.repeat(100_000), 'is too long'],
  ])('refuses %s, and makes no store', async (_what, args, stdin, words) => {
    const store = join(folder.path, 'none.sqlite');
    const { code, stdout, stderr } = await runCli(['store', 'erase', ...args, '-y', '--store', store], {
      stdin,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('two-secret');
  });
});

describe('roundfold store erase without a store', () => {
  it('fails, and makes none', async () => {
    const store = join(folder.path, 'nowhere.sqlite');
    const { code, stderr } = await runCli(['store', 'erase', '--tenant', 'a', '-y', '--store', store]);
    expect(code).toBe(1);
    expect(stderr).toContain('nothing is stored yet');
    expect(existsSync(store)).toBe(false);
  });
});

describe('roundfold store prune', () => {
  it.each(['30', '3y', '-1d', 'd', '1.5d', '', '9999999999d'])('refuses --older-than %j', async (text) => {
    const { code, stderr } = await runCli(['store', 'prune', `--older-than=${text}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('45m, 12h, 30d, 2w');
  });
});
