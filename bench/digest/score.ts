import type { LabCase } from '../../src/lab/lab-case.ts';
import { textsOf } from '../../src/lab/message-texts.ts';
import { type Share, scoreTexts } from '../../src/lab/panel.ts';
import { composeDigest } from '../../src/summarizers/digest/compose.ts';
import type { DigestModels } from '../../src/summarizers/digest/worth.ts';
import { estimator, keepAround } from './keep.ts';

/** What is measured, as shares; undefined where a cut has nothing to measure. */
export const FIGURES = [
  'futureReference',
  'bound',
  'editAnchors',
  'constraints',
  'changedFiles',
  'tokens',
] as const;
export type Figures = Readonly<Record<(typeof FIGURES)[number], number | undefined>>;

/** Scores the digest of a cut at a budget: what stays around it counts as well. */
export function scoreCase({ cut, needs }: LabCase, budgetTokens: number, models: DigestModels): Figures {
  const { messages, tokens, request } = keepAround(cut, budgetTokens);
  const text = composeDigest(request, models);
  const score = scoreTexts(needs, [text, ...messages.flatMap(textsOf).map((kept) => kept.text)]);
  return {
    futureReference: shareOf(score.futureReference),
    bound: shareOf(score.bound),
    editAnchors: shareOf(score.editAnchors),
    constraints: shareOf(score.constraints),
    changedFiles: shareOf(score.changedFiles),
    tokens: (tokens + estimator.countText(text)) / cut.prefixTokens,
  };
}

function shareOf({ kept, of }: Share): number | undefined {
  return of === 0 ? undefined : kept / of;
}

/** The mean over cuts of a session, then over sessions. */
export function meanFigures(sessions: readonly (readonly Figures[])[]): Figures {
  const means = FIGURES.map((figure) => {
    const bySession = sessions.map((cuts) => meanOf(cuts.map((cut) => cut[figure])));
    return [figure, meanOf(bySession)] as const;
  });
  return Object.fromEntries(means) as Figures; // one entry for each figure
}

function meanOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
}
