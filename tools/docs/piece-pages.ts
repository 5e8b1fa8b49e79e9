import { findContract } from '../../src/contracts/registry.ts';
import type { Format } from '../../src/conversation/format.ts';
import { conversionTargets } from '../../src/formats/convert/convert.ts';
import { formats } from '../../src/formats/registry.ts';
import { storeKinds } from '../../src/stores/registry.ts';
import { transcriptReaders } from '../../src/transcripts/registry.ts';
import { declarationText, type EntryPoint } from './api-pages.ts';
import { type Declaration, firstSentence } from './declarations.ts';
import { code, fence, type Page, sentence, table } from './markdown.ts';

const yesOrNo = (is: boolean): string => (is ? 'yes' : 'no');

/** A page for each wire format: what it demands, and the rules that `check` judges it by. */
export function formatPages(): readonly Page[] {
  return formats.map((format) => ({
    path: `formats/${format.name}.md`,
    title: format.name,
    summary: sentence(format.summary),
    body: [demands(format), rules(format)].join('\n'),
  }));
}

const RESULT_PLACES: Readonly<Record<Format['tools']['resultsStand'], string>> = {
  'next-message': 'all of them at the head of the one message after the calls',
  'following-messages': 'each in a message of its own, directly after the message with the calls',
  later: 'each in an item of its own, anywhere after its call',
};

function demands({ name, tools, userFirst, refusesBlankText, reasoningStandsAlone }: Format): string {
  return table(
    ['question', 'answer'],
    [
      ['Where do tool results stand?', RESULT_PLACES[tools.resultsStand]],
      [
        'Among which calls may an id stand only once?',
        tools.callIdsUniqueAmong === 'all-calls' ? 'all of them' : 'those that wait for their result',
      ],
      ...(tools.standBetween === undefined
        ? []
        : [['What may stand between a call and its result?', tools.standBetween.map(code).join(', ')]]),
      ['Must the first message be the user’s?', yesOrNo(userFirst)],
      ['Is blank text refused?', yesOrNo(refusesBlankText)],
      ['May a message hold reasoning and nothing else?', yesOrNo(reasoningStandsAlone)],
      ['Can other formats be converted to it (`compact --as`)?', yesOrNo(conversionTargets.includes(name))],
    ],
  );
}

function rules({ name }: Format): string {
  const contract = findContract(name);
  if (contract === undefined) return 'No contract: `check` has no rules for it.\n';
  const rows = contract.rules.map(({ id, title, fix, evidence }) => [
    code(id),
    sentence(title),
    fix,
    evidence,
  ]);
  return `## Rules\n\n${table(['rule', 'what it says', 'what to change', 'known from'], rows)}`;
}

/** A page for each kind of file that is read. */
export function readerPages(): readonly Page[] {
  return transcriptReaders(() => undefined).map(({ name, summary, location }) => ({
    path: `readers/${name}.md`,
    title: name,
    summary: sentence(summary),
    body: [
      location === undefined ? '' : `Usually found at ${code(location)}.\n\n`,
      'The kind of a file is recognised by what stands in it; `--reader` names it where that fails.\n\n',
      fence(`roundfold inspect session.jsonl --reader ${name}`),
    ].join(''),
  }));
}

/** A page for each kind of store. */
export function storePages(stores: EntryPoint): readonly Page[] {
  return storeKinds.map(({ name, address, summary }) => {
    const factory = stores.declarations.get(`${name}Store`);
    if (factory === undefined) throw new Error(`no function opens the store ${name}`);
    return {
      path: `stores/${name}.md`,
      title: name,
      summary: sentence(summary),
      body: [
        `Its addresses: ${code(address)}.\n`,
        declarationText(factory),
        ...neighbours(factory, stores).map(declarationText),
      ].join('\n'),
    };
  });
}

/** A page for each function that wraps a strategy. */
export function decoratorPages(root: EntryPoint): readonly Page[] {
  const wraps = /^function with[A-Z]\w*\(inner: Strategy\b/;
  const decorators = [...root.declarations.values()].filter(({ text }) => wraps.test(text));
  return decorators.map((decorator) => ({
    path: `decorators/${decorator.name}.md`,
    title: decorator.name,
    summary: firstSentence(decorator.comment),
    body: [decorator, ...neighbours(decorator, root)].map(declarationText).join('\n'),
  }));
}

/** The exported types that a declaration names, and those that they are made of in the same file. */
function neighbours(declaration: Declaration, { declarations }: EntryPoint): readonly Declaration[] {
  const isNamed = ({ name }: Declaration) => new RegExp(`\\b${name}\\b`).test(declaration.text);
  const types = [...declarations.values()].filter(({ kind }) => kind === 'interface' || kind === 'type');
  const here = types.filter(({ file }) => file === declaration.file);
  return [...new Set([...here, ...types.filter((type) => type.name.endsWith('Options') && isNamed(type))])];
}
