/**
 * The drop-in proxy as a library: `roundfold/proxy`.
 * @module
 */
export type { AccessOptions } from './access.ts';
export type { FolderOptions } from './fold.ts';
export type { ForwardLimits } from './forward.ts';
export type * from './record.ts';
export { type PageHandler, type ProxyOptions, type RunningProxy, startProxy } from './server.ts';
export type { UpstreamRule } from './upstreams.ts';
