import { aiSdkPeer } from './ai-sdk.ts';
import { langchainPeers } from './langchain.ts';
import { langchainMiddlewarePeers } from './langchain-middleware.ts';
import { llmtrimPeers } from './llmtrim.ts';
import type { Peer } from './peer.ts';
import { piPeer } from './pi.ts';
import { roundfoldPeers } from './roundfold.ts';
import { strandsPeer } from './strands.ts';

/** Everything that is measured; the first row is what the others are compared with. */
export const peers: readonly Peer[] = [
  ...roundfoldPeers,
  ...langchainPeers,
  ...langchainMiddlewarePeers,
  aiSdkPeer,
  strandsPeer,
  piPeer,
  ...llmtrimPeers,
];
