import type { BinModel } from './bins.ts';
import { entityWeightsBase64, lineWeightsBase64 } from './weights.gen.ts';
import type { DigestModels } from './worth.ts';

/** Weights are whole numbers of this. */
const UNIT = 1 / 256;
let loaded: DigestModels | undefined;

/** The fitted models, unpacked when first asked for. */
export function fittedModels(): DigestModels {
  loaded ??= unpackModels({ entity: entityWeightsBase64, line: lineWeightsBase64 });
  return loaded;
}

/** Models from packed weights. */
export function unpackModels({
  entity,
  line,
}: {
  readonly entity: string;
  readonly line: string;
}): DigestModels {
  return { entity: unpack(entity), line: unpack(line) };
}

function unpack(base64: string): BinModel {
  const packed = atob(base64);
  const numbers = new Float64Array(packed.length / 2);
  for (let index = 0; index < numbers.length; index++) {
    const unsigned = packed.charCodeAt(index * 2) | (packed.charCodeAt(index * 2 + 1) << 8);
    numbers[index] = ((unsigned << 16) >> 16) * UNIT;
  }
  return { bias: numbers[0] ?? 0, weights: numbers.subarray(1) };
}
