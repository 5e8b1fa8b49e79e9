import type { Usage } from './message.ts';

/** What two runs cost together; undefined when neither reported anything. */
export function addUsage(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    promptTokens: left.promptTokens + right.promptTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
}
