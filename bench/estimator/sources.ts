import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Reader,
  readAsBase64,
  readAsHexDump,
  readCatalog,
  readHandWritten,
  readManual,
  readMarkupProse,
  readPerl,
} from './readers.ts';

/** The project's folder. */
export const projectFolder: string = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Recorded agent conversations, for fitting: `ROUNDFOLD_CORPUS`, or the default place beside the project. */
export const transcriptFolder: string =
  process.env['ROUNDFOLD_CORPUS'] ?? join(projectFolder, '../shared/corpus');

/** One place where texts of a kind are found. */
export interface Source {
  readonly kind: string;
  readonly roots: readonly string[];
  /** Tried on the path below the root, with a leading slash. */
  readonly path: RegExp;
  readonly skip?: RegExp;
  readonly read?: Reader;
}

const modules = join(projectFolder, 'node_modules');
const pyenv = join(homedir(), '.pyenv/versions');
const sdk = '/usr/lib/google-cloud-sdk';
const anywhere = [
  modules,
  pyenv,
  sdk,
  '/usr/lib/python3',
  '/usr/share/doc',
  '/usr/share/go-1.19',
  '/usr/share/javascript',
];

const tests = /\/(?:testdata|fixtures?)\//;

// Codes of languages as folders of manuals, help pages and message catalogs name them.
const fittedLanguages: Readonly<Record<string, string>> = {
  'German, Dutch, Danish': 'de|nl|da|nb',
  'Italian, Portuguese, Romanian': 'it|pt|pt_BR|ro|ca|gl',
  'Polish, Czech, Croatian': 'pl|cs|sk|sl|hr',
  'Finnish, Hungarian, Vietnamese': 'fi|hu|et|lt|lv|vi|id|eo|eu',
  Chinese: 'zh_CN|zh_TW',
  Japanese: 'ja',
  Korean: 'ko',
  'Cyrillic, Greek': 'ru|uk|el|bg|sr|mk|be',
  'Arabic, Hebrew, Persian': 'ar|he|fa|ur',
  'Hindi, Bengali, Punjabi': 'hi|bn|bn_IN|mr|ne|as|gu|pa|si',
  'Tamil, Telugu, Thai and others': 'ta|te|kn|ml|th|ka|hy|am|km',
};

function translations(kind: string, codes: string): readonly Source[] {
  return [
    { kind, roots: ['/usr/share/man'], path: new RegExp(`^/(?:${codes})/.+\\.gz$`), read: readManual },
    {
      kind,
      roots: ['/usr/share/help'],
      path: new RegExp(`^/(?:${codes})/.+\\.page$`),
      read: readMarkupProse,
    },
    { kind, roots: ['/usr/share/locale'], path: new RegExp(`^/(?:${codes})/.+\\.mo$`), read: readCatalog },
  ];
}

/** Kinds the weights are fitted on; each falls into two halves by file name. */
export const fittedSources: readonly Source[] = [
  {
    kind: 'English prose',
    roots: ['/usr/share/doc', '/usr/share/common-licenses', modules],
    path: /\/(?:README|NEWS|copyright|LICEN[CS]E|[A-Z]PL-\d|Artistic|CHANGES|FAQ|TODO|THANKS|HACKING)(?:\.txt)?$/,
  },
  { kind: 'English prose', roots: ['/usr/share/help/C'], path: /\.page$/, read: readMarkupProse },
  { kind: 'English manuals', roots: ['/usr/share/man'], path: /^\/man\d\/.+\.gz$/, read: readManual },
  { kind: 'markdown', roots: anywhere, path: /\.(?:md|markdown)$/i },
  {
    kind: 'TypeScript',
    roots: [modules],
    path: /\.[mc]?ts$/,
    read: readHandWritten,
    skip: /\/lib\.[^/]+\.d\.ts$|bpeRanks/,
  },
  {
    kind: 'JavaScript',
    roots: [modules],
    path: /\.[mc]?js$/,
    read: readHandWritten,
    skip: /\.min\.|bpeRanks|\/chunk|gpt-tokenizer/,
  },
  { kind: 'Go', roots: ['/usr/share/go-1.19/src'], path: /\.go$/, skip: /\/(?:testdata|unicode|tables)/ },
  { kind: 'Rust', roots: ['/usr/lib/rustlib/src/rust/library', '/usr/src/rustc-1.63.0'], path: /\.rs$/ },
  { kind: 'Ruby', roots: ['/usr/lib/ruby'], path: /\.rb$/ },
  {
    kind: 'shell',
    roots: ['/etc', '/usr/share', '/usr/lib/git-core', '/var/lib/dpkg/info'],
    path: /\.(?:sh|postinst|prerm|bash)$/,
  },
  {
    kind: 'Perl',
    roots: ['/usr/share/perl', '/usr/share/perl5'],
    path: /\.p[lm]$/,
    skip: /unicore/,
    read: readPerl,
  },
  {
    kind: 'other code',
    roots: ['/usr/share/vim', '/usr/share/tcltk', '/usr/share/cmake-3.25'],
    path: /\.(?:vim|tcl|cmake)$/,
    skip: /\/keymap\//,
  },
  { kind: 'SQL', roots: ['/usr/share/postgresql', '/usr/share/postgresql-common', sdk], path: /\.sql$/ },
  {
    kind: 'XML',
    roots: [
      '/usr/share/mime',
      '/usr/share/X11',
      '/usr/share/xml',
      '/usr/share/gtk-doc',
      '/usr/share/source-highlight',
    ],
    path: /\.(?:xml|lang|xsl)$/,
  },
  { kind: 'JSON', roots: anywhere, path: /\.json$/, skip: /package(?:-lock)?\.json$/ },
  { kind: 'logs', roots: ['/var/log/apt', '/var/log/postgresql'], path: /(?:\.log|history[^/]*)$/ },
  ...Object.entries(fittedLanguages).flatMap(([kind, codes]) => translations(kind, codes)),
  {
    kind: 'base64',
    roots: ['/usr/share/icons', '/usr/share/zoneinfo', '/usr/share/fonts', modules],
    path: /\.(?:png|ttf|gz|wasm|node)$|\/[A-Z][a-z]+\/[A-Z][a-z]+$/,
    read: readAsBase64,
  },
  { kind: 'base64', roots: ['/etc/ssl/certs', '/usr/share/ca-certificates'], path: /\.(?:pem|crt)$/ },
  { kind: 'hex ids', roots: ['/var/lib/dpkg/info'], path: /\.md5sums$/ },
  {
    kind: 'number tables',
    roots: [...anywhere, '/usr/share/i18n', '/usr/share/zoneinfo'],
    path: /\.(?:csv|tsv|dat|tab)$/,
    skip: tests,
  },
  { kind: 'SVG', roots: ['/usr/share/icons', '/usr/share/doc', pyenv], path: /\.svg$/ },
];

/** Kinds the weights never see: all of it is for judging. */
export const unseenSources: readonly Source[] = [
  { kind: 'C', roots: [pyenv, '/usr/share', '/usr/lib', '/usr/src'], path: /\.c$/ },
  { kind: 'C++ headers', roots: ['/usr/include/c++'], path: /\/[^./]+$|\.(?:h|hpp|tcc)$/ },
  { kind: 'minified JS', roots: anywhere, path: /\.min\.js$/ },
  { kind: 'source maps', roots: anywhere, path: /\.map$/ },
  { kind: 'hex dump', roots: ['/usr/bin', '/usr/share/icons'], path: /./, read: readAsHexDump },
  { kind: 'npm log', roots: [join(homedir(), '.npm/_logs')], path: /\.log$/ },
  { kind: 'package.json', roots: [modules], path: /\/package\.json$/ },
  ...translations('fr/es/tr/sv', 'fr|es|tr|sv'),
  { kind: 'dpkg log', roots: ['/var/log'], path: /^\/dpkg\.log$/ },
  {
    kind: 'POD',
    roots: ['/usr/share/perl', '/usr/share/perl5', '/usr/lib/x86_64-linux-gnu/perl', '/usr/share/doc'],
    path: /\.pod$/,
  },
  { kind: 'CSS', roots: anywhere, path: /\.css$/, skip: /\.min\./ },
  { kind: 'YAML', roots: [sdk, modules, pyenv], path: /\.ya?ml$/ },
  { kind: 'HTML', roots: anywhere, path: /\.html?$/ },
  { kind: 'Python', roots: [pyenv, '/usr/lib/python3', '/usr/lib/python3.11'], path: /\.py$/ },
];

/** Kinds that are generated or printed by a program rather than found as files. */
export const unseenCommands: Readonly<Record<string, readonly (readonly [string, ...string[]])[]>> = {
  'ls -la': ['/etc', '/usr/bin', '/usr/lib/x86_64-linux-gnu', '/usr/share', '/usr/share/doc', modules].map(
    (folder) => ['ls', '-la', folder] as const,
  ),
  'npm ls tree': [['npm', 'ls', '--all', '--prefix', projectFolder]],
};
