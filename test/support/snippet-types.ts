import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { type SnippetProject, snippetProject } from './snippet-project.ts';
import type { Snippet } from './snippets.ts';

/** What snippets may name without having made it. */
const PRELUDE = `
import type { Usage } from 'roundfold';
declare global {
  /** The list of an agent loop. */
  let messages: { role: 'user' | 'assistant'; content: string }[];
  /** A request body of any wire format. */
  let body: Record<string, unknown>;
  /** What the provider reported with the newest response. */
  let usage: Usage;
}
`;

const CONFIGURATION = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2025'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    moduleDetection: 'force',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['*.ts'],
};

/** Whether the compiler reads a snippet of this language. */
export function isTyped({ language }: Snippet): boolean {
  return language === 'ts' || language === 'js';
}

/** Compiles snippets as a user of the package would. The compiler's errors, each with the page and line it is from. */
export async function typeErrors(snippets: readonly Snippet[]): Promise<readonly string[]> {
  const project = snippetProject();
  try {
    project.write('prelude.d.ts', PRELUDE);
    project.write('tsconfig.json', JSON.stringify(CONFIGURATION));
    const byFile = new Map(snippets.map((snippet) => [fileOf(snippet), snippet]));
    for (const [file, { text }] of byFile) project.write(file, text);
    return (await compile(project)).map((error) => atPage(error, byFile));
  } finally {
    project.remove();
  }
}

function fileOf({ page, line, file }: Snippet): string {
  return file ?? `${page.replaceAll(/\W/g, '-')}-${line}.ts`;
}

function compile({ path }: SnippetProject): Promise<readonly string[]> {
  const compiler = resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  return new Promise((done) => {
    execFile(process.execPath, [compiler, '--pretty', 'false'], { cwd: path }, (_error, stdout, stderr) =>
      done(`${stdout}${stderr}`.split('\n').filter((line) => line !== '')),
    );
  });
}

function atPage(error: string, byFile: ReadonlyMap<string, Snippet>): string {
  const [, file = '', line = '1'] = /^([^(]+)\((\d+)/.exec(error) ?? [];
  const snippet = byFile.get(file);
  return snippet === undefined ? error : `${snippet.page}:${snippet.line + Number(line)}: ${error}`;
}
