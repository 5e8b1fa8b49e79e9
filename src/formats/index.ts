/**
 * roundfold/formats: wire formats. Reads and writes request bodies and lists of messages, converts one format into another, and
 * reads what providers say when a request is too long.
 * @module
 */
export type { ConversionChange } from './convert/changes.ts';
export { type Conversion, conversionTargets, convertConversation } from './convert/convert.ts';
export { langchainUpdate } from './langchain-update.ts';
export { readAnswer } from './overflow/answer.ts';
export { parseOverflow, tokenGap } from './overflow/detect.ts';
export type { Overflow, OverflowKind } from './overflow/overflow.ts';
export type { OverflowFacts } from './overflow/overflow-facts.ts';
export { type Answer, detectSoftOverflow } from './overflow/soft.ts';
export { findFormat, formats, readConversation, recogniseFormat } from './registry.ts';
