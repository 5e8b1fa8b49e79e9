/** How the window of a summarizing model is divided. */
export interface SummaryRequestBudget {
  /** The whole prompt, everything around the material included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly marginTokens: number;
}

const MARGIN = { least: 512, most: 4096, share: 1 / 20 };
const LEAST_OUTPUT = 512;
const LEAST_INPUT = 256;

/**
 * Divides a window: a twentieth (512 to 4096 tokens) is margin, the answer gets what it wants up to a third of the rest,
 * the prompt gets what remains. A window of 0 or less is unlimited.
 */
export function summaryRequestBudget(windowTokens: number, wantedOutputTokens: number): SummaryRequestBudget {
  if (windowTokens <= 0) {
    return { inputTokens: Number.POSITIVE_INFINITY, outputTokens: wantedOutputTokens, marginTokens: 0 };
  }
  const share = Math.floor(windowTokens * MARGIN.share);
  const marginTokens = Math.min(Math.max(share, MARGIN.least), MARGIN.most);
  const third = Math.floor((windowTokens - marginTokens) / 3);
  const outputTokens = Math.min(wantedOutputTokens, Math.max(LEAST_OUTPUT, third));
  const inputTokens = Math.max(LEAST_INPUT, windowTokens - outputTokens - marginTokens);
  return { inputTokens, outputTokens, marginTokens };
}
