import type { Material, Source } from '../../src/summarizers/digest/sources.ts';

/** What a digest is made of where there is one text: of one round, with no demands around it. */
export function materialOf({
  title,
  kind,
  ...source
}: Pick<Source, 'origin' | 'lines'> & Pick<Source['group'], 'title' | 'kind'>): Material {
  const group = { kind, title, round: 1, isFailed: false, changes: 0, status: '' };
  return {
    sources: [{ ...source, group, isError: false, round: 1, isKept: false }],
    covered: { rounds: 1, characters: 0, hasOtherSummary: false },
    rounds: 1,
    earlierCharacters: 0,
    demands: [],
    habits: [],
  };
}
