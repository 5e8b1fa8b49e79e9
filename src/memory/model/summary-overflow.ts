import type { Usage } from '../../conversation/message.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';

/** The prompt of a summary in estimated tokens. */
export interface PromptSizes {
  readonly promptTokens: number;
  /** The part of it that is the messages; the rest is the same however few of them there are. */
  readonly materialTokens: number;
}

/**
 * What the refusal of a prompt means for the messages in it: instructions, facts and an earlier summary cannot leave, so
 * that all that is too much has to come from the messages. What the provider left open is estimated.
 */
export function materialOverflow(refusal: OverflowFacts, sizes: PromptSizes): OverflowFacts {
  const { kind, actualTokens, limitTokens, requestedOutputTokens = 0, countIsLowerBound } = refusal;
  const isCounted = actualTokens !== undefined && countIsLowerBound !== true;
  const estimatedExcess =
    limitTokens === undefined ? 0 : sizes.promptTokens + requestedOutputTokens - limitTokens;
  const excess = refusal.excessTokens ?? estimatedExcess;
  return overflowOfMaterial(kind, isCounted ? actualTokens : sizes.promptTokens, excess, sizes);
}

/** A prompt that was not sent, because no more than `inputTokens` fit the window. */
export function promptOverflow(sizes: PromptSizes, inputTokens: number): OverflowFacts {
  const excess = sizes.promptTokens - inputTokens;
  return overflowOfMaterial('prompt-too-long', sizes.promptTokens, excess, sizes);
}

/** The window was full before the answer had come to its end: what it still wanted is too much. */
export function answerOverflow(
  usage: Usage | undefined,
  maximumOutputTokens: number,
  sizes: PromptSizes,
): OverflowFacts {
  const promptTokens = usage?.promptTokens ?? sizes.promptTokens;
  const excess = usage === undefined ? 0 : maximumOutputTokens - usage.outputTokens;
  return overflowOfMaterial('soft', promptTokens, excess, sizes);
}

function overflowOfMaterial(
  kind: string,
  promptTokens: number,
  excessTokens: number,
  sizes: PromptSizes,
): OverflowFacts {
  const actualTokens = (promptTokens * sizes.materialTokens) / Math.max(1, sizes.promptTokens);
  if (excessTokens <= 0) return { kind, actualTokens };
  return { kind, actualTokens, limitTokens: Math.max(0, actualTokens - excessTokens), excessTokens };
}
