import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { sessionName } from '../../src/cli/session-archive.ts';
import { isObject } from '../../src/conversation/json.ts';
import { textOf } from '../../src/conversation/message.ts';
import { pagesOf } from '../../src/memory/pages.ts';
import { openStore } from '../../src/stores/registry.ts';
import { messagesOfSpan, searchPages } from '../../src/stores/spans.ts';
import type { Store } from '../../src/stores/store.ts';
import { readRecordingsOf } from '../../src/transcripts/recordings.ts';
import { writeAgentHome } from '../support/agent-home.ts';
import { runCli } from '../support/cli.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writtenSession } from '../support/written-session.ts';

const folder = temporaryFolder();
const { home, files } = writeAgentHome(join(folder.path, 'home'));
const session = folder.write('session.jsonl', writtenSession({ files: 12, isCompacted: true }));

const whole = folder.write('whole.jsonl', writtenSession({ files: 12 }));

const over = (store: string, ...args: readonly string[]) =>
  runCli([...args, '--store', join(folder.path, store)]);

interface Match {
  readonly handle: string;
  readonly page: number;
  readonly excerpt: string;
}

async function search(store: string, ...words: readonly string[]): Promise<readonly Match[]> {
  const { stdout } = await over(store, 'search', ...words, '--json');
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Match]));
}

describe('sessions in a store', () => {
  it.each(['{"messages":[]}', '[]'])('are refused where a file holds no message: %s', async (content) => {
    const empty = folder.write('empty.json', content);
    const { code, stdout, stderr } = await over('none.sqlite', 'store', 'import', empty);

    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('empty.json');
    expect(existsSync(join(folder.path, 'none.sqlite'))).toBe(false);
  });

  it('are found by their words and recalled, whichever agent wrote them', async () => {
    const { code, stdout } = await over('all.sqlite', 'store', 'import', home);
    const found = await Promise.all(
      ['rounding', 'tides', 'lamp', 'nets', 'gulls'].map((word) => search('all.sqlite', word)),
    );
    const recalled = await over('all.sqlite', 'recall', found[1]?.[0]?.handle ?? '');

    expect(code).toBe(0);
    expect(stdout).toContain('imported 5 sessions');
    expect(found.map((matches) => matches.length)).toEqual([1, 1, 1, 1, 1]);
    expect(recalled.stdout).toContain('Explain the tides.');
  });

  it('are there once, however often they are imported', async () => {
    const first = await over('twice.sqlite', 'store', 'import', session, '--json');
    const second = await over('twice.sqlite', 'store', 'import', session, '--json');
    const told = [first, second].map(({ stdout }) => JSON.parse(stdout) as Record<string, number>);

    expect(told[0]?.['added']).toBe(told[0]?.['spans']);
    expect(told[1]).toMatchObject({ spans: told[0]?.['spans'], added: 0 });
  });

  it('grow with their files', async () => {
    await over('grow.sqlite', 'store', 'import', files.codex);
    const payload = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'And the albatross?' }],
    };
    appendFileSync(
      files.codex,
      `${JSON.stringify({ timestamp: '2026-11-02T11:00:00Z', type: 'response_item', payload })}\n`,
    );
    const { stdout } = await over('grow.sqlite', 'store', 'import', files.codex, '--json');

    expect(JSON.parse(stdout)).toMatchObject({ added: 1 });
    expect(await search('grow.sqlite', 'albatross')).toHaveLength(1);
  });

  it('keep what stood before a compaction of the agent', async () => {
    await over('before.sqlite', 'store', 'import', session);
    const { stdout } = await over('before.sqlite', 'store', 'ls', '--json');

    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ checkpoints: 0 });
    expect((await search('before.sqlite', 'draughtMetres')).length).toBeGreaterThan(0);
  });
});

describe('an agent with the MCP server', () => {
  it('finds a message of an imported session, and reads its page', async () => {
    const store = join(folder.path, 'mcp.sqlite');
    await over('mcp.sqlite', 'store', 'import', files.pi);
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [resolve(import.meta.dirname, '../../dist/cli/main.js'), 'mcp'],
        env: { PATH: process.env['PATH'] ?? '', ROUNDFOLD_STORE: store },
        stderr: 'ignore',
      }),
    );
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    const found = await client.callTool({
      name: names.find((name) => name.includes('search')) ?? '',
      arguments: { query: 'lamp', words: 'lamp' },
    });
    const [handle = ''] = JSON.stringify(found.content).match(/rf:[0-9a-f]{32}/) ?? [];
    const read = await client.callTool({
      name: names.find((name) => name.includes('recall')) ?? '',
      arguments: { handle },
    });
    await client.close();

    expect(JSON.stringify(read.content)).toContain('Light the lamp.');
  });
});

describe('roundfold compact --store', () => {
  it('keeps what leaves, so that every handle in the result and the receipt can be recalled', async () => {
    const receipt = join(folder.path, 'receipt.json');
    const { code, stdout } = await over(
      'left.sqlite',
      'compact',
      whole,
      '--budget',
      '45%',
      '--receipt',
      receipt,
    );
    const named = `${stdout}${readFileSync(receipt, 'utf8')}`.match(/rf:[0-9a-f]{32}/g) ?? [];

    expect(code).toBe(0);
    expect(named.length).toBeGreaterThan(0);
    for (const handle of new Set(named))
      expect((await over('left.sqlite', 'recall', handle)).code, handle).toBe(0);
  });

  it('stores nothing with --dry-run', async () => {
    await over('dry.sqlite', 'compact', session, '--budget', '30%', '--dry-run');
    const { stdout } = await over('dry.sqlite', 'store', 'ls', '--json');

    expect(stdout).toBe('');
  });
});

describe('roundfold hook claude-code', () => {
  const hook = (store: string, event: object) =>
    runCli(['hook', 'claude-code', '--store', join(folder.path, store)], { stdin: JSON.stringify(event) });

  it('keeps the transcript before a compaction, and says nothing', async () => {
    const event = { hook_event_name: 'PreCompact', transcript_path: session, trigger: 'auto' };
    const run = await hook('hook.sqlite', event);

    expect(run).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await search('hook.sqlite', 'draughtMetres')).length).toBeGreaterThan(0);
  });

  it('gives back after a compaction what stood before it, with handles that can be recalled', async () => {
    const event = { hook_event_name: 'SessionStart', transcript_path: session, source: 'compact' };
    const { code, stdout } = await hook('back.sqlite', event);
    const answer: unknown = JSON.parse(stdout);
    const output = isObject(answer) ? answer['hookSpecificOutput'] : undefined;
    const given = isObject(output) ? String(output['additionalContext']) : '';
    const [handle = ''] = given.match(/rf:[0-9a-f]{32}/) ?? [];

    expect(code).toBe(0);
    expect(output).toMatchObject({ hookEventName: 'SessionStart' });
    expect(given).toContain('Memory of');
    expect((await over('back.sqlite', 'recall', handle)).code).toBe(0);
  });

  it.each([
    { event: { hook_event_name: 'SessionStart', transcript_path: session, source: 'startup' } },
    { event: { hook_event_name: 'Stop', transcript_path: session } },
  ])('has nothing to do with $event.hook_event_name $event.source', async ({ event }) => {
    expect(await hook('none.sqlite', event)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(existsSync(join(folder.path, 'none.sqlite'))).toBe(false);
  });

  it.each([
    { what: 'no event', event: {} },
    {
      what: 'a transcript that is gone',
      event: { hook_event_name: 'PreCompact', transcript_path: '/nowhere.jsonl' },
    },
  ])('ends with 1 for $what: 2 would forbid the agent to compact', async ({ event }) => {
    const { code, stdout, stderr } = await hook('fault.sqlite', event);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('error');
  });

  it('knows no other agent yet', async () => {
    const { code, stderr } = await runCli(['hook', 'emacs'], { stdin: '{}' });

    expect(code).toBe(1);
    expect(stderr).toContain('Known: claude-code.');
  });
});

const isMissing = corpusFolder === undefined;

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  it('are found by words of theirs, each on a page of the message that holds them', async () => {
    const recorded = ['claude-code/', 'codex-rollout/', 'pi-session/'];
    const paths = corpusFiles()
      .filter(({ file }) => recorded.some((name) => file.startsWith(name)))
      .map(({ file }) => corpusPath(file));
    const store = join(folder.path, 'corpus.sqlite');
    await runCli(['store', 'import', ...paths, '--store', store]);
    const opened = openStore(store);
    const [{ tenant } = { tenant: '' }] = await opened.list();
    const wanted = await phrasesIn(paths, 200);
    const lost: string[] = [];
    for (const { conversation, words } of wanted) {
      const found = await searchPages(opened, { tenant, conversation, words, limit: 20 });
      const pages = await Promise.all(
        found.map(({ handle, page }) => pageOf(opened, { tenant, handle, page })),
      );
      if (!pages.some((text) => text.replaceAll(/\s+/g, ' ').includes(words))) lost.push(words);
    }
    await opened.close();

    expect(wanted.length).toBe(200);
    expect(lost).toEqual([]);
  }, 120_000);
});

async function pageOf(store: Store, { page, ...key }: { tenant: string; handle: string; page: number }) {
  const span = await store.recall(key);
  const text = span === undefined ? '' : (pagesOf(messagesOfSpan(span))[page - 1] ?? '');
  // A page is what fits into about 2,000 tokens.
  expect(text.length).toBeLessThan(40_000);
  return text;
}

/** Words that stand next to each other in messages, spread over all sessions, and where they were said. */
async function phrasesIn(paths: readonly string[], count: number) {
  const phrases: { readonly conversation: string; readonly words: string }[] = [];
  for (const path of paths) {
    for await (const { conversations, transcript } of readRecordingsOf(path)) {
      const conversation = sessionName(transcript, path);
      const { messages } = conversations.at(-1) ?? { messages: [] };
      const carried = transcript.segments.at(-1)?.opening?.carried ?? 0;
      for (const text of messages.slice(carried, -2).flatMap(({ blocks }) => blocks.map(textOf))) {
        const words = /(?<!\S)[a-z]{5,12} [a-z]{5,12} [a-z]{5,12}(?!\S)/.exec(text)?.[0];
        if (words !== undefined) phrases.push({ conversation, words });
      }
    }
  }
  const step = Math.max(1, Math.floor(phrases.length / count));
  return phrases.filter((_, index) => index % step === 0).slice(0, count);
}
