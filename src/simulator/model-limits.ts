import { contextWindowForModel, findModel } from '../tokens/catalog.ts';

/** How much a model takes. */
export interface ModelLimits {
  /** Prompt and output together. */
  readonly windowTokens: number;
  readonly inputTokens: number;
}

/** The limits of a model, or of every model when a window is given. */
export function limitsOf(model: string, windowTokens: number | undefined): ModelLimits {
  if (windowTokens !== undefined) return { windowTokens, inputTokens: windowTokens };
  const window = contextWindowForModel(model);
  return { windowTokens: window, inputTokens: findModel(model)?.maxInputTokens ?? window };
}
