import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = resolve(import.meta.dirname, '../../examples');
/** Writes the recording that other examples in the documentation read. */
const isTool = (name: string) => name === 'make-session.ts';
const programs = readdirSync(folder).filter((name) => name.endsWith('.ts') && !isTool(name));

/** Runs a program as its reader would: by the built package, with no key in the environment. */
async function run(name: string) {
  const child = spawn(process.execPath, [join(folder, name)], {
    env: { PATH: process.env['PATH'] ?? '' },
    timeout: 50_000,
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code: code as number | null, ...said };
}

describe('the examples', () => {
  it('are all there', () => {
    expect(programs).toEqual([
      'ai-sdk-agent.ts',
      'anthropic-loop.ts',
      'langchain-agent.ts',
      'mcp-recall.ts',
      'openai-chat-loop.ts',
      'openai-responses-loop.ts',
    ]);
  });

  it.each(programs)(
    '%s lives through 200 rounds in a window of 32k, and says so in one line',
    async (name) => {
      const { code, stdout, stderr } = await run(name);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.split('\n')).toEqual([
        expect.stringMatching(
          /^[a-z-]+: fine \(200 requests, 0 refused, [1-9]\d* compactions, largest prompt \d+ of 32000 tokens.*\)$/,
        ),
        '',
      ]);
    },
  );
});
