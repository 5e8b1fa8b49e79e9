import { apiPages, readEntryPoints } from './api-pages.ts';
import { commandPages } from './command-pages.ts';
import { type Page, table } from './markdown.ts';
import { decoratorPages, formatPages, readerPages, storePages } from './piece-pages.ts';
import { strategyPages } from './strategy-pages.ts';

interface Section {
  readonly title: string;
  readonly about: string;
  readonly pages: readonly Page[];
}

/** Every file of `docs/reference`, by its path there. Made from the registries and the built types, and from nothing else. */
export function renderReference(): ReadonlyMap<string, string> {
  const sections = readSections();
  const pages = sections
    .flatMap((section) => section.pages)
    .map((page) => [page.path, pageText(page)] as const);
  return new Map([['README.md', indexText(sections)], ...pages]);
}

function readSections(): readonly Section[] {
  const entryPoints = readEntryPoints();
  const entryPoint = (name: string) => {
    const found = entryPoints.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no entry point ${name}`);
    return found;
  };
  const compacting = entryPoint('roundfold/strategies');
  return [
    { title: 'Commands', about: 'What each takes and does.', pages: commandPages() },
    { title: 'Strategies', about: 'With their settings and defaults.', pages: strategyPages(compacting) },
    { title: 'Decorators', about: 'Functions that wrap any strategy.', pages: decoratorPages(compacting) },
    {
      title: 'Wire formats',
      about: 'What each demands, and the rules it is checked by.',
      pages: formatPages(),
    },
    { title: 'Readers', about: 'Files that conversations are found in.', pages: readerPages() },
    {
      title: 'Stores',
      about: 'Where checkpoints are kept.',
      pages: storePages(entryPoint('roundfold/stores')),
    },
    { title: 'Entry points', about: 'Everything that can be imported.', pages: apiPages(entryPoints) },
  ];
}

const MADE_BY = '<!-- Written by `npm run docs` from the code. -->\n\n';

function pageText({ title, summary, body }: Page): string {
  const isSaid = body.replaceAll(/\s+/g, ' ').includes(summary);
  const opening = isSaid || summary === '' ? '' : `${summary}\n\n`;
  return `${MADE_BY}# ${title}\n\n${opening}${body.trim()}\n`;
}

function indexText(sections: readonly Section[]): string {
  const lists = sections.map(({ title, about, pages }) => {
    const rows = pages.map((page) => [`[${page.title}](${page.path})`, page.summary]);
    return `## ${title}\n\n${about}\n\n${table(['page', 'in short'], rows)}`;
  });
  return `${MADE_BY}# Reference\n\n${lists.join('\n')}`;
}
