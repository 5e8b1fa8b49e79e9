import type { Summarizer } from '../core/summarizer.ts';
import { digest } from '../summarizers/digest.ts';

/** Writes the summaries where nobody asks for another one. Needs no model. */
export const defaultSummarizer: Summarizer = digest;
