/**
 * roundfold/contracts: what each provider accepts and refuses, as rules that judge a raw request body. Shares no code
 * with the rest of the package, so that it can judge that too.
 * @module
 */
export type {
  CheckContext,
  Contract,
  Evidence,
  Rule,
  Seal,
  SealVerdict,
  SealVerifier,
  Violation,
} from './contract.ts';
export { contracts, findContract } from './registry.ts';
