import { type Hash, sha256 } from '../conversation/sha256.ts';
import { headerOf, type RawHeaders } from './headers.ts';

/** Where credentials stand, for every provider. */
const CREDENTIAL_HEADERS = ['x-api-key', 'authorization', 'x-goog-api-key', 'api-key'];
const CREDENTIAL_PARAMETER = 'key';

/** The tenant of requests without any credential, where only this machine can send them. */
const LOCAL_TENANT = 'local';

export interface TenantOptions {
  /** The tenant of all requests. */
  readonly fixed?: string | undefined;
  /** A header that names the tenant, instead of the credential. */
  readonly header?: string | undefined;
  /** Whether requests without a credential have a tenant: only where nobody from outside can send them. */
  readonly allowsAnonymous: boolean;
}

/**
 * Whose conversations a request belongs to: a hash, never the credential itself. Undefined when nothing tells, and then
 * nothing may be looked up or kept.
 */
export function tenantOf(
  { headers, target }: { readonly headers: RawHeaders; readonly target: string },
  { fixed, header, allowsAnonymous }: TenantOptions,
  hash: Hash = sha256,
): string | undefined {
  if (fixed !== undefined) return fixed;
  const told = header === undefined ? credentialOf(headers, target) : headerOf(headers, header.toLowerCase());
  if (told !== undefined && told !== '') return nameOf(told, hash);
  return allowsAnonymous && header === undefined ? LOCAL_TENANT : undefined;
}

/** The tenant of whoever sends this credential, or this value in the header that names tenants. */
export function tenantOfKey(key: string): string {
  return nameOf(withoutScheme(key), sha256);
}

function nameOf(told: string, hash: Hash): string {
  return hash(`roundfold tenant\n${told}`);
}

/** One key is one tenant, whichever way an SDK writes it. */
function withoutScheme(credential: string): string {
  return credential.replace(/^bearer +/i, '');
}

function credentialOf(headers: RawHeaders, target: string): string | undefined {
  for (const name of CREDENTIAL_HEADERS) {
    const value = headerOf(headers, name);
    if (value !== undefined && value !== '') return withoutScheme(value);
  }
  const query = target.indexOf('?');
  return query === -1
    ? undefined
    : (new URLSearchParams(target.slice(query)).get(CREDENTIAL_PARAMETER) ?? undefined);
}

/** One row a client: what its headers begin with. */
const clients: readonly {
  readonly client: string;
  readonly header: string;
  readonly value?: string;
}[] = [
  { client: 'claude-code', header: 'x-claude-code-session-id' },
  { client: 'claude-code', header: 'user-agent', value: 'claude-cli/' },
  { client: 'codex', header: 'originator', value: 'codex' },
  { client: 'codex', header: 'user-agent', value: 'codex' },
  { client: 'opencode', header: 'user-agent', value: 'opencode' },
  { client: 'opencode', header: 'x-session-affinity' },
  { client: 'pi', header: 'user-agent', value: 'pi' },
  { client: 'gemini-cli', header: 'user-agent', value: 'geminicli' },
  { client: 'anthropic-sdk', header: 'user-agent', value: 'anthropic/' },
  { client: 'openai-sdk', header: 'user-agent', value: 'openai/' },
  { client: 'ai-sdk', header: 'user-agent', value: 'ai-sdk/' },
];

/** The client as its headers name it; undefined for one that is not known. */
export function clientOf(headers: RawHeaders): string | undefined {
  return clients.find(({ header, value }) => {
    const given = headerOf(headers, header)?.toLowerCase();
    return given !== undefined && (value === undefined || given.startsWith(value));
  })?.client;
}
