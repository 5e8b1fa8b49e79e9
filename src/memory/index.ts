/**
 * roundfold/memory: what takes the place of older messages. Our own memory, which needs no model; a model that writes its prose;
 * and what keeps secrets out of both.
 * @module
 */
export { formatSummary } from './model/accept.ts';
export { modelSummarizer } from './model/model.ts';
export type { Completion, CompletionRequest, CompletionStop, ModelClient } from './model/model-client.ts';
export { SUMMARY_SYSTEM, type SummaryPromptOptions, summaryPrompt } from './model/prompt.ts';
export { renderTranscript, type TranscriptOptions } from './model/render-transcript.ts';
export type { ModelSummarizerOptions } from './model/summary-call.ts';
export { type FoundSecret, type Redaction, redactSecrets } from './redact/redact-secrets.ts';
export { memory } from './summarizer.ts';
export type { Summarizer, SummaryFailure, SummaryOutcome, SummaryRequest } from './summary-request.ts';
