/**
 * The drop-in proxy as a library: `roundfold/proxy`.
 * @module
 */
export type { AccessOptions } from './access.ts';
export type { FolderOptions } from './fold.ts';
export type { ForwardLimits } from './forward.ts';
export type { ConversationRow, MoneyTotals, Turn } from './observe/account.ts';
export type { Health } from './observe/health.ts';
export type { Ledger, LedgerOptions, Money } from './observe/ledger.ts';
export type { LogOptions } from './observe/log.ts';
export { createObservation, type Observation, type ObservationOptions } from './observe/observation.ts';
export type * from './record.ts';
export {
  type IntakeLimits,
  type PageHandler,
  type ProxyOptions,
  type RunningProxy,
  startProxy,
} from './server.ts';
export type { UpstreamRule } from './upstreams.ts';
