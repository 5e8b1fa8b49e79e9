import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultScript, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { savedMessages } from '../support/chat-file.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const work = join(folder.path, 'work');
mkdirSync(work);
folder.write('work/notes.txt', 'the kiln runs at port 8123\n');

let simulator: Simulator;
/** What the model answers when it is asked for a summary: a request without tools. */
let summary = '';

beforeAll(async () => {
  simulator = await startSimulator({
    chunking: 'whole',
    script: (turn) =>
      turn.tools.length > 0 ? defaultScript(turn) : { parts: [{ type: 'text', text: summary }] },
  });
});
afterAll(() => simulator.close());

/** A chat whose summaries a model writes, compacted by hand at its end. */
async function compacted(answer: string, command: string) {
  summary = answer;
  const before = simulator.requests.length;
  const file = join(folder.path, `${before}.jsonl`);
  const entries = ['look around', 'and again', 'once more', command];
  const { code, stdout } = await runCli(
    [
      'chat',
      ...['--provider', 'anthropic', '--model', 'claude-sonnet-4-5', '--session', file],
      ...['--summarizer', 'anthropic', '--summarizer-model', 'claude-haiku-4-5'],
    ],
    {
      stdin: entries.map((entry) => `${entry}\n`).join(''),
      cwd: work,
      env: {
        XDG_STATE_HOME: folder.path,
        HOME: folder.path,
        ANTHROPIC_API_KEY: 'sk-test',
        ANTHROPIC_BASE_URL: simulator.url,
      },
    },
  );
  const asked = simulator.requests
    .slice(before)
    .map(({ body }) => body as { readonly model: string; readonly tools?: unknown })
    .filter(({ model }) => model.includes('haiku'));
  return { code, stdout, asked, saved: savedMessages(file).join('\n') };
}

const GOOD = '<summary>\n## Goal\n- look around in the folder with the kiln\n</summary>';

describe('a chat with a model for its summaries', () => {
  it('rows 54, 58, 60: asks it once, without tools, with calls, results and the instructions', async () => {
    const { code, stdout, asked } = await compacted(GOOD, '/compact summarize instructions=mind-the-kiln');

    expect({ code, asked: asked.length }).toEqual({ code: 0, asked: 1 });
    expect(stdout).toMatch(/compacted: \d+ → \d+ messages/);
    expect(asked[0]).not.toHaveProperty('tools');
    const prompt = JSON.stringify(asked[0]);
    expect(prompt).toContain('mind-the-kiln');
    expect(prompt).toContain('list_files');
    expect(prompt).toContain('notes.txt');
  });

  it.each([
    { name: 'row 57: an empty summary', answer: ' ' },
    { name: 'row 56: a summary that is a refusal', answer: "I'm sorry, but I can't help with that." },
  ])('$name is an error, and leaves every message as it was', async ({ answer }) => {
    const { code, stdout, saved } = await compacted(answer, '/compact summarize');

    expect(code).toBe(0);
    expect(stdout).toContain('not compacted:');
    expect(stdout).not.toMatch(/compacted: \d+ →/);
    for (const entry of ['look around', 'and again', 'once more']) expect(saved).toContain(entry);
    expect(saved).not.toContain('[earlier conversation summary]');
  });
});
