import type { BinModel } from '../../src/summarizers/digest/bins.ts';
import type { DigestModels } from '../../src/summarizers/digest/compose.ts';

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

function pack({ bias, weights }: BinModel): string {
  const numbers = [bias, ...Array.from(weights)].map((weight) => Math.round(weight / UNIT));
  const bytes = Buffer.alloc(numbers.length * 2);
  for (const [index, number] of numbers.entries()) bytes.writeInt16LE(number, index * 2);
  return bytes.toString('base64');
}
