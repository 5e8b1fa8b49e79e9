import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as program from '../support/edge-program.ts';

/** What every platform has. */
const platform = {
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  atob,
  btoa,
  crypto,
  setTimeout,
  clearTimeout,
  queueMicrotask,
  structuredClone,
  URL,
};

let edge: typeof program;

beforeAll(async () => {
  const bundle = await rolldown({
    input: 'test/support/edge-program.ts',
    platform: 'browser',
    treeshake: false,
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'edge', codeSplitting: false });
  await bundle.close();
  const [{ code, imports }] = output;
  expect({ files: output.length, imports }).toEqual({ files: 1, imports: [] });
  const context = createContext({ ...platform });
  expect(
    runInContext('[typeof process, typeof Buffer, typeof setImmediate, typeof require]', context),
  ).toEqual(Array.from({ length: 4 }, () => 'undefined'));
  runInContext(code, context);
  edge = runInContext('edge', context) as typeof program; // what the program exports
});

describe('on a platform without Node', () => {
  it('the keeper folds a conversation', async () => {
    expect(await edge.keep()).toBe('folded');
  });

  it('the middleware for the AI SDK keeps a prompt inside its window', async () => {
    const { before, after } = await edge.compact();
    expect(after).toBeLessThan(before);
  });
});

/** Entry points that read files, open databases or listen on ports. */
const NEED_NODE = ['./stores', './transcripts', './simulator', './proxy', './node'];

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Readonly<Record<string, string | { readonly default: string }>>;
};
const portable = Object.entries(exports).flatMap(([entry, target]) =>
  typeof target === 'string' || NEED_NODE.includes(entry)
    ? []
    : [{ entry, path: target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts') }],
);

describe('an entry point without Node', () => {
  it.each(portable)('$entry is loaded whole', async ({ path }) => {
    const bundle = await rolldown({
      input: path,
      platform: 'browser',
      treeshake: false,
      external: /^gpt-tokenizer/,
    });
    const { output } = await bundle.generate({ format: 'iife', name: 'entry', codeSplitting: false });
    await bundle.close();
    const [{ code, imports }] = output;
    const context = createContext({ ...platform, Headers, Response, fetch });
    runInContext(code, context);

    expect(imports).toEqual([]);
    expect(runInContext('Object.keys(entry).length', context)).toBeGreaterThan(0);
  });

  it('knows most entry points, so that the list of exceptions is no way out', () => {
    expect(portable.length).toBeGreaterThan(2 * NEED_NODE.length);
  });
});
