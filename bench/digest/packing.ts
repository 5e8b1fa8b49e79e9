import type { BinModel } from '../../src/summarizers/digest/bins.ts';
import type { DigestModels } from '../../src/summarizers/digest/worth.ts';

/** Weights are whole numbers of this, so that every machine adds up the same. */
const UNIT = 1 / 256;

/** The model with its weights as they are shipped. */
export function rounded({ bias, weights }: BinModel): BinModel {
  return {
    bias: Math.round(bias / UNIT) * UNIT,
    weights: Float64Array.from(weights, (weight) => Math.round(weight / UNIT) * UNIT),
  };
}

/** The models as a source file. */
export function packedModel({ entity, line }: DigestModels): string {
  return [
    '// Written by bench/digest/fit.ts. Numbers of 1/256, two bytes each, the lower one first: the bias, then the weights.',
    `export const entityWeightsBase64 =\n  '${pack(entity)}';`,
    `export const lineWeightsBase64 =\n  '${pack(line)}';`,
    '',
  ].join('\n');
}

/** The models of all folds, and which fold each session is held out of. */
export function packedFolds(folds: readonly DigestModels[], foldOf: ReadonlyMap<string, number>): string {
  const models = folds.map(({ entity, line }) => ({ entity: pack(entity), line: pack(line) }));
  return [
    '// Written by bench/digest/fit.ts. Weights by fold, packed like those that are shipped; the fold of each session.',
    `export const foldWeights = ${JSON.stringify(models, undefined, 2)};`,
    `export const foldOfSession: Readonly<Record<string, number>> = ${JSON.stringify(Object.fromEntries(foldOf), undefined, 2)};`,
    '',
  ].join('\n');
}

function pack({ bias, weights }: BinModel): string {
  const numbers = [bias, ...Array.from(weights)].map((weight) => Math.round(weight / UNIT));
  const bytes = Buffer.alloc(numbers.length * 2);
  for (const [index, number] of numbers.entries()) bytes.writeInt16LE(number, index * 2);
  return bytes.toString('base64');
}
