import type { StrategyDefinition } from '../../src/compaction/plan/strategy.ts';
import { strategies } from '../../src/compaction/strategies/registry.ts';
import type { OptionSpec } from '../../src/conversation/options.ts';
import type { EntryPoint } from './api-pages.ts';
import { code, fence, type Page, sentence, table } from './markdown.ts';

/** A page for each strategy: what it does, its settings and how it is called. */
export function strategyPages(entry: EntryPoint): readonly Page[] {
  return strategies.map((definition: StrategyDefinition) => {
    const { name, summary } = definition;
    const factory = name.replaceAll(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
    const comment = entry.declarations.get(factory)?.comment;
    if (comment === undefined) throw new Error(`roundfold/strategies has no ${factory}`);
    return {
      path: `strategies/${name}.md`,
      title: name,
      summary: sentence(summary),
      body: [`${comment}\n`, settings(definition), calls(definition, factory)].join('\n'),
    };
  });
}

function settings({ options }: StrategyDefinition): string {
  const rows = Object.entries(options).map(([key, spec]) => [
    code(key),
    kindOf(spec),
    code(Array.isArray(spec.default) ? spec.default.join(',') : String(spec.default)),
    sentence(spec.help),
  ]);
  if (rows.length === 0) return 'It has no settings.\n';
  return table(['setting', 'kind', 'default', 'what it is'], rows);
}

function kindOf(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'integer':
    case 'number': {
      const kind = spec.kind === 'integer' ? 'whole number' : 'number';
      return spec.max < Number.MAX_SAFE_INTEGER
        ? `${kind} from ${spec.min} to ${spec.max}`
        : `${kind} from ${spec.min} on`;
    }
    case 'flag':
      return 'yes or no';
    case 'text':
      return 'text';
    case 'choice':
      return `one of ${spec.choices.map(code).join(', ')}`;
    case 'list':
      return 'words, with commas between them';
  }
}

function calls({ name, options }: StrategyDefinition, factory: string): string {
  const first = Object.entries(options).find(([, { kind }]) => kind === 'integer' || kind === 'number');
  const given = first === undefined ? '' : `{ ${first[0]}: ${first[1].default} }`;
  const set = first === undefined ? '' : ` --set ${first[0]}=${first[1].default}`;
  return [
    fence(`roundfold compact session.jsonl --strategy ${name}${set} --dry-run`),
    fence(
      [
        "import { createCompactor } from 'roundfold';",
        `import { ${factory} } from 'roundfold/strategies';`,
        '',
        `const compactor = createCompactor({ strategy: ${factory}(${given}) });`,
      ].join('\n'),
      'ts',
    ),
  ].join('\n');
}
