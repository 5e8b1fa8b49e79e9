import { existsSync, readFileSync } from 'node:fs';
import {
  commentText,
  type Declaration,
  type Declarations,
  firstSentence,
  readDeclarations,
} from './declarations.ts';
import { fence, type Page, sentence, table } from './markdown.ts';

/** An entry point of the package with what it exports. */
export interface EntryPoint {
  /** As it is imported: `roundfold/keeper`. */
  readonly name: string;
  /** What its source says of itself; empty when it says nothing. */
  readonly about: string;
  readonly declarations: Declarations;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

/** Every entry point that package.json names, from the built types: `npm run build` comes first. */
export function readEntryPoints(): readonly EntryPoint[] {
  const { name, exports } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest; // our own file
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [readEntryPoint(`${name}${path.slice(1)}`, target.types)],
  );
}

function readEntryPoint(name: string, types: string): EntryPoint {
  if (!existsSync(types)) throw new Error(`there is no ${types}: run \`npm run build\` first`);
  return { name, about: openingComment(types), declarations: readDeclarations(types) };
}

/** Read from the source: the compiler drops it with the import that stands below it. */
function openingComment(types: string): string {
  const source = readFileSync(types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts'), 'utf8');
  const opening = /^\/\*\*[\s\S]*?\*\/\n/.exec(source)?.[0] ?? '';
  const isAboutFile = opening.includes('@module') || /^export (type )?\{/.test(source.slice(opening.length));
  return isAboutFile ? commentText(opening.trimEnd().split('\n')) : '';
}

/** A page for each entry point: names with their first sentence, then every declaration. */
export function apiPages(entryPoints: readonly EntryPoint[]): readonly Page[] {
  return entryPoints.map(({ name, about: said, declarations }) => {
    const all = [...declarations.values()];
    const anchors = anchorsOf(all);
    const values = all.filter(({ kind }) => kind !== 'interface' && kind !== 'type');
    const types = all.filter(({ kind }) => kind === 'interface' || kind === 'type');
    const about = aboutText(said, values);
    return {
      path: `api/${name.replace('/', '-')}.md`,
      title: name,
      summary: firstSentence(about),
      body: [
        `${about}\n`,
        ...(values.length === 0 ? [] : ['## What it does\n', nameTable(values, anchors)]),
        ...(types.length === 0 ? [] : ['## Types\n', nameTable(types, anchors)]),
        '## Declarations\n',
        ...all.map(declarationText),
      ].join('\n'),
    };
  });
}

/** What the file says of itself, or else what is in it. */
function aboutText(about: string, values: readonly Declaration[]): string {
  if (about === '') return `Has ${values.map(({ name }) => `\`${name}\``).join(', ')}.`;
  return sentence(about.replace(/^roundfold\/[\w-]+: /, ''));
}

/** Where the heading of each declaration is found: of names that differ in case alone, later ones get a number. */
function anchorsOf(declarations: readonly Declaration[]): ReadonlyMap<string, string> {
  const seen = new Map<string, number>();
  return new Map(
    declarations.map(({ name }) => {
      const anchor = name.toLowerCase();
      const before = seen.get(anchor) ?? 0;
      seen.set(anchor, before + 1);
      return [name, before === 0 ? anchor : `${anchor}-${before}`];
    }),
  );
}

function nameTable(declarations: readonly Declaration[], anchors: ReadonlyMap<string, string>): string {
  return table(
    ['name', 'what it is'],
    declarations.map((declaration) => [
      `[\`${declaration.name}\`](#${anchors.get(declaration.name)})`,
      firstSentence(declaration.comment),
    ]),
  );
}

/** The whole declaration with what its comment says. */
export function declarationText(declaration: Declaration): string {
  const { name, comment, text } = declaration;
  const words = comment === '' ? '' : `${commentMarkdown(comment)}\n\n`;
  return `### ${name}\n\n${words}${fence(shorten(text), 'ts')}`;
}

function commentMarkdown(comment: string): string {
  return comment
    .replaceAll(/^@throws (RoundfoldError )?/gm, '\nThrows `RoundfoldError` ')
    .replaceAll(/^@returns /gm, '\nReturns ')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** Constants whose type is a long object are shown by its beginning: their own pages say what is in it. */
const LONG_CONSTANT = 200;

function shorten(text: string): string {
  if (!text.startsWith('const ') || text.length <= LONG_CONSTANT) return text;
  return `${text.slice(0, text.indexOf('{') + 1)} … ${text.slice(text.lastIndexOf('}'))}`;
}
