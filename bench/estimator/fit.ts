/**
 * Fits the weights of `src/tokens/text-estimator.ts` and writes them with a report:
 *
 *     node --max-old-space-size=12000 bench/estimator/fit.ts
 *
 * Texts come from this machine (see sources.ts) and from recorded conversations in ROUNDFOLD_CORPUS.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { estimateTokenCount } from 'tokenx';
import { charsByFour, countPieces, errorsByKind, meanOverKinds } from './accuracy.ts';
import { buildAutomaton } from './automaton.ts';
import { growContexts } from './context-tree.ts';
import { type Collection, collectFitted, collectUnseen } from './corpus.ts';
import { type Figures, writeModule } from './packing.ts';
import { writeReport } from './report.ts';
import { labelPieces, shortPieces } from './samples.ts';
import { projectFolder, transcriptFolder } from './sources.ts';
import { type Model, reduceRows } from './weights.ts';

const fitCharsPerKind = 1_600_000;
const testCharsPerKind = 400_000;
const growth = { worth: 7e-5, depthLimit: 14, countMinimum: 60 };
const choice = { ridge: 0.003, ridgeFloor: 1e-4, sweeps: 40, weightLimit: 1.2, rows: 900 };

const modulePath = join(projectFolder, 'src/tokens/text-estimator-weights.gen.ts');
const reportPath = join(projectFolder, 'bench/estimator/report.md');

if (!existsSync(transcriptFolder)) {
  console.log(
    `No recorded conversations at ${transcriptFolder}: set ROUNDFOLD_CORPUS, or the fit does without them.`,
  );
}
const fitted = collectFitted('fit', fitCharsPerKind);
const model = fitModel(fitted);
writeFileSync(modulePath, writeModule(model, { meanRelative: 0, p95Relative: 0 }));

const { estimateTextTokens } = await import('../../src/tokens/text-estimator.ts');
const test = collectFitted('test', testCharsPerKind);
const unseen = collectUnseen(testCharsPerKind);
const [testPieces, unseenPieces] = [countPieces(test.pieces), countPieces(unseen.pieces)];
const unseenErrors = errorsByKind(unseenPieces, estimateTextTokens);
const figures: Figures = {
  meanRelative: meanOverKinds(unseenErrors),
  p95Relative: meanOverKinds(unseenErrors, (error) => error.p95),
};
writeFileSync(modulePath, writeModule(model, figures));
const counters = { roundfold: estimateTextTokens, 'chars ÷ 4': charsByFour, tokenx: estimateTokenCount };
writeFileSync(
  reportPath,
  writeReport({
    contexts: model.automaton.contexts.length,
    parts: [
      { title: 'Fitted kinds, the half that was not fitted on', collection: test, pieces: testPieces },
      { title: 'Kinds never fitted', collection: unseen, pieces: unseenPieces },
    ],
    fitted,
    counters,
  }),
);
console.log(`${modulePath}\n${reportPath}`);
console.log(`kinds never fitted: mean ${(figures.meanRelative * 100).toFixed(2)} %`);

function fitModel(collection: Collection): Model {
  const samples = labelPieces([...collection.pieces, ...shortPieces(collection.pieces)]);
  console.log(`${collection.pieces.length} pieces, ${samples.classes.length} bytes`);
  const automaton = buildAutomaton(growContexts(samples, growth));
  console.log(`${automaton.contexts.length} contexts grown`);
  return reduceRows(automaton, samples, choice);
}
