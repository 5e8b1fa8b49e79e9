import type { ProxyPassReason } from '../../proxy/record.ts';

/** What can be done about requests that are passed. Undefined where that is right as it is. */
export const passRemedies: Readonly<Record<ProxyPassReason, string | undefined>> = {
  observing: 'Start the proxy with --mode fold, or without ROUNDFOLD_MODE and `mode` in its config.',
  bypassed: 'The client sends x-roundfold-bypass: take that header out of its config.',
  'not-a-conversation': undefined,
  unreadable: 'The client compresses its bodies in a way that is not known, or sends no JSON.',
  fragment: undefined,
  'compaction-answered': undefined,
  'no-tenant':
    'Let the client send its key (x-api-key or authorization), or name the tenant in the header that tenantHeader in the config says.',
  'provider-holds-history':
    'Have the client send the whole history: no previous_response_id, conversation or cachedContent. Codex does so over HTTP.',
  'provider-compacts':
    'The client asks the provider to compact: take compact_* out of context_management, or leave that to the provider.',
  'client-compacts': undefined,
  'folded-calls': 'The client writes tool calls into texts: have it send them as calls.',
  'unknown-model': 'Set the window of its model: --window, or `windows` in the config.',
  failed: 'Run the proxy with --json and look at what it says; please report it.',
};
