import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { type RecordingProvider, startRecordingProvider } from '../support/recording-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const SUMMARY = '<summary>\n## Goal\n- look at the kiln\n</summary>';

let chosen: RecordingProvider;
let other: RecordingProvider;
beforeAll(async () => {
  [chosen, other] = (await Promise.all(
    [1, 2].map(() =>
      startRecordingProvider(({ tools }) => ({
        parts: [{ type: 'text', text: tools.length > 0 ? 'the kiln is warm. '.repeat(40) : SUMMARY }],
      })),
    ),
  )) as [RecordingProvider, RecordingProvider];
});
beforeEach(() => {
  chosen.forget();
  other.forget();
});
afterAll(() => Promise.all([chosen.close(), other.close()]));

/** Talks, and has a summary made. */
const talk = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  runCli(['chat', '--model', 'claude-sonnet-4-5', ...args], {
    stdin: 'one\ntwo\nthree\nfour\n/compact summarize\n',
    env: { HOME: folder.path, ...env },
  });

const keys = { ANTHROPIC_API_KEY: 'sk-anthropic', OPENAI_API_KEY: 'sk-openai' };

describe('where the summaries of a chat are written', () => {
  it('is the address that --base-url names, when the provider is the same', async () => {
    const args = ['--provider', 'anthropic', '--base-url', chosen.url, '--summarizer', 'anthropic'];
    const { code, stdout } = await talk(args, { ...keys, ANTHROPIC_BASE_URL: other.url });

    expect(code).toBe(0);
    expect(stdout).toContain('compacted: ');
    expect(chosen.requests.length).toBe(5);
    expect(other.requests).toEqual([]);
  });

  it.each([
    { title: '--base-url', args: () => ['--base-url', `${chosen.url}/v1`], env: () => ({}) },
    {
      title: 'OPENAI_BASE_URL',
      args: () => ['--provider', 'openai'],
      env: () => ({ OPENAI_BASE_URL: `${chosen.url}/v1` }),
    },
  ])(
    'is never the default of another provider behind the back of $title: nothing is sent',
    async ({ args, env }) => {
      const { code, stdout, stderr } = await talk([...args(), '--summarizer', 'anthropic'], {
        ...keys,
        ...env(),
      });

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('--summarizer-base-url');
      expect(chosen.requests).toEqual([]);
    },
  );

  it('is the address that --summarizer-base-url names', async () => {
    const args = ['--base-url', `${chosen.url}/v1`, '--summarizer', 'anthropic'];
    const { code, stdout } = await talk([...args, '--summarizer-base-url', other.url], keys);

    expect(code).toBe(0);
    expect(stdout).toContain('compacted: ');
    expect(chosen.requests.length).toBe(4);
    expect(other.requests.length).toBe(1);
  });

  it('is the address that the environment names for the other provider', async () => {
    const args = ['--base-url', `${chosen.url}/v1`, '--summarizer', 'anthropic'];
    const { code } = await talk(args, { ...keys, ANTHROPIC_BASE_URL: other.url });

    expect({ code, summaries: other.requests.length }).toEqual({ code: 0, summaries: 1 });
  });

  it.each(['--summarizer-model', '--summarizer-base-url'])(
    'is not asked with %s alone, which says so',
    async (option) => {
      const { code, stderr } = await talk([option, 'http://localhost'], {});

      expect(code).toBe(2);
      expect(stderr).toContain('Add --summarizer');
    },
  );
});

describe('a chat whose folder cannot be written', () => {
  // Nobody can make a folder below a file, whatever rights they have.
  const HOME = folder.write('no-folder', '');

  it('says so in one sentence, goes on, and claims nothing else', async () => {
    const { code, stdout, stderr } = await runCli(['chat'], {
      stdin: 'hello\n/pin hello\n/undo\n/save\n',
      env: { HOME },
    });

    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^this chat is not saved: .* cannot be written \(a part of the path is no folder\)\n/,
    );
    expect(stderr.match(/not saved/g)).toHaveLength(1);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toContain('compacts at');
    expect(stdout).not.toContain('saved to');
  });

  it('is refused where the user has named the file', async () => {
    const { code, stdout, stderr } = await runCli(['chat', '--session', `${HOME}/chat.jsonl`], {
      stdin: 'hello\n',
      env: { HOME: folder.path },
    });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('cannot be written');
  });
});

describe('a model that nobody knows', () => {
  it('is asked all the same, and its window is a guess', async () => {
    const args = ['chat', '--base-url', `${chosen.url}/v1`, '--model', 'kiln-7b'];
    const { code, stdout } = await runCli(args, {
      stdin: 'one\n/model kiln-8b\ntwo\n',
      env: { HOME: folder.path, ...keys },
    });

    expect(code).toBe(0);
    expect(chosen.requests.map(({ body }) => body.model)).toEqual(['kiln-7b', 'kiln-8b']);
    expect(stdout).toContain('its window is a guess');
    expect(stdout).toMatch(/context \d+ of 128,000 /);
  });
});
