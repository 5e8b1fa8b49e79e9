import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = 'examples/session.jsonl';
const question = { role: 'user', content: 'why?' };
const orphan = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'gone', content: 'x' }] };
const legal = folder.write(
  'legal.json',
  JSON.stringify({ model: 'claude-opus-4-5', max_tokens: 9, messages: [question] }),
);
const illegal = folder.write(
  'illegal.json',
  JSON.stringify([question, { role: 'assistant', content: 'so' }, orphan]),
);

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('roundfold', () => {
  it('explains itself', async () => {
    const { code, stdout, stderr } = await runCli([]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/inspect[\s\S]*check[\s\S]*completion[\s\S]*Exit codes/);
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    { args: ['nonsense'], words: "unknown command 'nonsense'" },
    { args: ['inspect'], words: "missing required argument 'file'" },
    { args: ['check', '--nonsense', legal], words: "unknown option '--nonsense'" },
    { args: ['check', '--format', 'morse', legal], words: 'Allowed choices are' },
    { args: ['inspect', '--window', 'wide', legal], words: 'whole number' },
    { args: ['inspect', '--exact', '--model', 'claude-opus-4-5', legal], words: 'no exact tokenizer' },
  ])('refuses $args with exit code 2', async ({ args, words }) => {
    const { code, stdout, stderr } = await runCli(args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
  });

  it.each(['bash', 'zsh', 'fish', 'powershell'])('completes in %s', async (shell) => {
    const { code, stdout } = await runCli(['completion', shell]);

    expect(code).toBe(0);
    expect(stdout).toContain('roundfold');
  });

  it('suggests formats and options', async () => {
    expect((await runCli(['complete', '--', 'inspect', '--format', ''])).stdout).toContain(
      'openai-responses',
    );
    expect((await runCli(['complete', '--', 'inspect', '--for'])).stdout).toContain('--format');
  });
});

describe('roundfold check', () => {
  it('ends with 0 for what the provider accepts', async () => {
    const { code, stdout } = await runCli(['check', legal, session]);

    expect(code).toBe(0);
    expect(stdout).toContain(`legal   ${legal}`);
    expect(stdout).toContain(`legal   ${session} (main): 48 messages, anthropic-messages`);
  });

  it('ends with 1 and names rule, place, wording and remedy', async () => {
    const { code, stdout } = await runCli(['check', illegal]);

    expect(code).toBe(1);
    expect(stdout).toContain('tool-result-without-call messages.2.content.0');
    expect(stdout).toContain('unexpected `tool_use_id` found in `tool_result` blocks: gone');
    expect(stdout).toContain('fix: ');
  });

  it('speaks JSON, one line a conversation', async () => {
    const { code, stdout, stderr } = await runCli(['check', '--json', legal, illegal]);
    const [first, second] = lines(stdout);

    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(first).toMatchObject({
      version: 1,
      type: 'check',
      file: legal,
      format: 'anthropic-messages',
      violations: [],
    });
    expect(second).toMatchObject({
      file: illegal,
      messages: 3,
      violations: [{ rule: 'tool-result-without-call', alias: 'A17', severity: 'error' }],
    });
  });

  it('names a broken rule in words, and shows no former id to people', async () => {
    const { stdout } = await runCli(['check', illegal]);

    expect(stdout).toContain('tool-result-without-call messages.');
    expect(stdout).not.toContain('A17');
  });

  it('calls a request without max_tokens legal, and says which endpoint refuses it', async () => {
    const body = {
      model: 'claude-opus-5',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [question],
    };
    const file = folder.write('count.json', JSON.stringify(body));
    const { code, stdout } = await runCli(['check', file]);
    const [line] = lines((await runCli(['check', '--json', file])).stdout);

    expect({ code, verdict: stdout.slice(0, 5) }).toEqual({ code: 0, verdict: 'legal' });
    expect(stdout).toMatch(/missing-field max_tokens: .*count_tokens/);
    expect(line).toMatchObject({ violations: [{ rule: 'missing-field', severity: 'info' }] });
  });

  it('does not call legal what it has no rules for', async () => {
    const messages = [
      { type: 'human', data: { content: 'hi' } },
      { type: 'ai', data: { content: 'hello' } },
    ];
    const file = folder.write('langchain.json', JSON.stringify(messages));
    const [line] = lines((await runCli(['check', '--json', file])).stdout);

    expect(line).toMatchObject({ format: 'langchain', isJudged: false });
    expect((await runCli(['check', file])).stdout).toMatch(/^unknown .*langchain has no rules of its own/);
  });

  it('goes on after a file it cannot read, and ends with the worst code', async () => {
    const { code, stdout, stderr } = await runCli(['check', '/nowhere.json', illegal]);

    expect(code).toBe(3);
    expect(stdout).toContain('tool-result-without-call');
    expect(stderr).toContain('/nowhere.json');
  });

  it('judges by the model it is told', async () => {
    const prefill = folder.write(
      'prefill.json',
      JSON.stringify({
        model: 'claude-opus-4-5',
        max_tokens: 9,
        messages: [question, { role: 'assistant', content: 'It is' }],
      }),
    );

    expect((await runCli(['check', prefill])).code).toBe(0);
    expect((await runCli(['check', '--model', 'claude-opus-5-5', prefill])).stdout).toContain(
      'prefill-unsupported',
    );
  });

  it('needs a beta header only when it is told the headers', async () => {
    const edited = {
      model: 'claude-opus-5',
      max_tokens: 9,
      messages: [question],
      context_management: { edits: [] },
    };
    const file = folder.write('beta.json', JSON.stringify(edited));

    expect((await runCli(['check', file])).code).toBe(0);
    expect((await runCli(['check', '--beta', 'other-2026-01-01', file])).code).toBe(1);
    expect((await runCli(['check', '--beta', 'context-management-2025-06-27', file])).code).toBe(0);
  });
});

describe('roundfold inspect', () => {
  it('shows rounds, tokens by class and tool, the largest, repeated reads and the warning level', async () => {
    const { code, stdout } = await runCli(['inspect', session]);

    expect(code).toBe(0);
    for (const words of [
      '48 messages, 23 rounds, 35 tool calls',
      'of 200,000',
      'tool results',
      'Largest rounds',
      'Largest tool results',
      'read 10 times',
    ]) {
      expect(stdout).toContain(words);
    }
  });

  it('reads standard input', async () => {
    const { code, stdout } = await runCli(['inspect', '-'], { stdin: readFileSync(legal) });

    expect(code).toBe(0);
    expect(stdout).toContain('<stdin>');
  });

  it('speaks JSON with numbers, not words', async () => {
    const [line] = lines(
      (await runCli(['inspect', '--json', '--model', 'gpt-4o', '--top', '2', session])).stdout,
    );

    expect(line).toMatchObject({
      version: 1,
      type: 'inspection',
      reader: 'claude-code',
      model: 'gpt-4o',
      messages: 48,
      window: { windowTokens: 128_000 },
    });
    expect(line?.['largestRounds']).toHaveLength(2);
  });

  it.each([
    { window: '118000', level: 'critical' },
    { window: '130_000', level: 'warning' },
    { window: '1000000', level: 'ok' },
  ])('warns $level in a window of $window', async ({ window, level }) => {
    const [line] = lines((await runCli(['inspect', '--json', '--window', window, session])).stdout);

    expect(line).toMatchObject({ window: { level } });
  });

  it('takes the window that a session names for itself, unless another one is asked for', async () => {
    const item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Look at the files.' }],
    };
    const rollout = [
      { type: 'turn_context', payload: { model: 'gpt-5.5' } },
      { type: 'event_msg', payload: { type: 'task_started', model_context_window: 258_400 } },
      { type: 'response_item', payload: item },
    ].map((record) => JSON.stringify(record));
    const file = folder.write('rollout.jsonl', rollout.join('\n'));
    const windowOf = async (...more: string[]) =>
      lines((await runCli(['inspect', '--json', file, ...more])).stdout)[0]?.['window'];

    expect(await windowOf()).toMatchObject({ windowTokens: 258_400 });
    expect(await windowOf('--window', '1000')).toMatchObject({ windowTokens: 1000 });
    expect(await windowOf('--model', 'gpt-4o')).toMatchObject({ windowTokens: 128_000 });
  });

  it('shows the size after a compaction, though what it kept was reported with the size before', async () => {
    const usage = { input: 180_000, output: 500, cacheRead: 0, cacheWrite: 0 };
    const turn = { api: 'anthropic-messages', model: 'claude-opus-4-5', stopReason: 'stop', usage };
    const pi = [
      { type: 'session', id: 's', cwd: '/w' },
      { type: 'message', message: { role: 'user', content: 'Look at the files.' } },
      {
        type: 'message',
        message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }], ...turn },
      },
      { type: 'compaction', summary: 'They looked.', firstKeptEntryIndex: 2, tokensBefore: 180_500 },
    ].map((record) => JSON.stringify(record));
    const file = folder.write('pi.jsonl', pi.join('\n'));
    const [line] = lines((await runCli(['inspect', '--json', file])).stdout);
    const context = line?.['context'] as { tokens: number; low: number; high: number };

    expect(line).toMatchObject({ compactions: 1, context: { reportedTokens: 0 }, unaccounted: 0 });
    expect(context.tokens).toBeLessThan(100);
    expect(context.high).toBeGreaterThan(context.low);
  });

  it('counts exactly when asked', async () => {
    const text = 'Counting characters and dividing by four is not how a tokenizer works.';
    const file = folder.write('exact.json', JSON.stringify([{ role: 'user', content: text }]));
    const [line] = lines((await runCli(['inspect', '--exact', '--json', '--model', 'gpt-4o', file])).stdout);

    expect(line).toMatchObject({ byClass: { user: 13 } });
  });

  it('lists many conversations of one file and draws the largest', async () => {
    const log = Array.from({ length: 60 }, (_, index) =>
      JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'word '.repeat(index + 1) }] }),
    );
    const { stdout } = await runCli(['inspect', folder.write('log.jsonl', log.join('\n'))]);

    expect(stdout).toContain('Other conversations in this file');
    expect(stdout.split('\n').filter((line) => line.includes('1 message ')).length).toBeLessThanOrEqual(21);
  });

  it('uses no colour in a pipe, colour when forced, and none against NO_COLOR', async () => {
    expect((await runCli(['inspect', legal])).stdout).not.toContain('\u001b');
    expect((await runCli(['inspect', legal], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[');
    expect(
      (await runCli(['--no-color', 'inspect', legal], { env: { FORCE_COLOR: '1' } })).stdout,
    ).not.toContain('\u001b');
  });
});
