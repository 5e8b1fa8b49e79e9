import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Something that an entry point exports, as its built types declare it. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'const' | 'interface' | 'type';
  /** The comment above it without its stars; empty when there is none. */
  readonly comment: string;
  /** Without `export` and `declare`. */
  readonly text: string;
  /** The file it stands in, to find its neighbours. */
  readonly file: string;
}

/** What a file of types exports, by name, in the order of the file. */
export type Declarations = ReadonlyMap<string, Declaration>;

const remembered = new Map<string, Declarations>();

/**
 * Reads what an entry point exports, through all its re-exports. Made for the files that `tsc` writes: every statement
 * begins in the first column, and nothing inside of one does but its closing bracket.
 */
export function readDeclarations(file: string): Declarations {
  const known = remembered.get(file);
  if (known !== undefined) return known;
  const statements = splitStatements(readFileSync(file, 'utf8'));
  const exports = new Map(statements.flatMap((statement) => exportsOf(statement, file)));
  remembered.set(file, exports);
  return exports;
}

interface Statement {
  readonly comment: string;
  readonly text: string;
}

function splitStatements(source: string): readonly Statement[] {
  const statements: Statement[] = [];
  let comment: string[] = [];
  let isComment = false;
  let text: string[] = [];
  const close = () => {
    if (text.length > 0) {
      statements.push({ comment: commentText(comment), text: text.join('\n') });
      comment = [];
      text = [];
    }
  };
  for (const line of source.split('\n')) {
    if (line.startsWith('/**')) {
      close();
      comment = [];
      isComment = true;
    } else if (/^(export|declare|interface|type|import) /.test(line)) close();
    if (isComment) comment.push(line);
    else if (line !== '' && !line.startsWith('//#')) text.push(line);
    if (isComment && line.includes('*/')) isComment = false;
  }
  close();
  return statements;
}

/** The words of a comment, without its stars. */
export function commentText(lines: readonly string[]): string {
  const bare = lines.map((line) => line.replace(/^\/\*\*|\*\/\s*$/g, '').replace(/^ \* ?/, ''));
  return bare
    .map((line) => line.replace(/\*\/\s*$/, '').trimEnd())
    .filter((line) => !line.startsWith('@module'))
    .join('\n')
    .trim();
}

function exportsOf({ comment, text }: Statement, file: string): readonly (readonly [string, Declaration])[] {
  const again = /^export (?:type )?(?:\{([^}]*)\}|\*) from '([^']+)';/.exec(text);
  if (again?.[2] !== undefined) return exportedAgain(again[1], typesFile(file, again[2]));
  const found =
    /^export (?:declare )?(?:abstract )?(function\*?|class|const|interface|type) ([A-Za-z0-9_$]+)/.exec(text);
  if (found?.[1] === undefined || found[2] === undefined) return [];
  const declared = text.replace(/^export (declare )?/, '');
  const kind = found[1].replace('*', '') as Declaration['kind']; // one of the words of the pattern
  return [[found[2], { name: found[2], kind, comment, text: declared, file }]];
}

function exportedAgain(
  list: string | undefined,
  source: string,
): readonly (readonly [string, Declaration])[] {
  const exports = readDeclarations(source);
  if (list === undefined) return [...exports];
  const names = list.split(',').map((part) => part.trim().replace(/^type /, ''));
  return names
    .filter((name) => name !== '')
    .map((name) => {
      const [inner = name, outer = name] = name.split(' as ');
      const declaration = exports.get(inner);
      if (declaration === undefined) throw new Error(`${source} does not declare ${inner}`);
      return [outer, { ...declaration, name: outer }];
    });
}

function typesFile(from: string, specifier: string): string {
  return join(dirname(from), specifier.replace(/\.(ts|js)$/, '.d.ts'));
}

/** The first sentence of a comment, as one line. */
export function firstSentence(comment: string): string {
  const paragraph = comment.split(/\n\s*\n|\n- |\n@/, 1)[0] ?? '';
  const line = paragraph.replace(/^@\w+ /, '').replaceAll('\n', ' ');
  return /^.*?[.!?](?= [A-Z`]|$)/.exec(line)?.[0] ?? line;
}
