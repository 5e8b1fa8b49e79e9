/**
 * roundfold/providers: asks a model, over the provider's HTTP API or in whatever way its owner likes.
 * @module
 */
export { anthropicClient } from './anthropic.ts';
export { createEventSplitter, type EventSplitter, type StreamEvent } from './event-stream.ts';
export { type CompleteFunction, functionClient } from './function.ts';
export type { HttpClientOptions } from './http.ts';
export { type OpenaiClientOptions, openaiClient } from './openai.ts';
