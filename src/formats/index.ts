/**
 * roundfold/formats: wire formats. Reads and writes request bodies and lists of messages, converts one format into another, and
 * reads what providers say when a request is too long.
 * @module
 */
export type { ConversionChange } from './change-log.ts';
export { type Conversion, conversionTargets, convertConversation } from './convert/convert.ts';
export { langchainUpdate } from './langchain/update.ts';
export type { Overflow, OverflowFacts, OverflowKind } from './overflow/detect.ts';
export { parseOverflow, tokenGap } from './overflow/detect.ts';
export { type Answer, detectSoftOverflow, readAnswer } from './overflow/soft.ts';
export { findFormat, formats, readConversation, recogniseFormat } from './registry.ts';
