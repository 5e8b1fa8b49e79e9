import { RoundfoldError } from '../conversation/errors.ts';
import type { Route } from './routes.ts';
import { glob } from './windows.ts';

/** Where requests go: the first rule that fits. */
export interface UpstreamRule {
  /** Its address, perhaps with a base path: `https://api.anthropic.com`, `http://127.0.0.1:11434`. */
  readonly url: string;
  /** Only requests whose path begins with this, which is taken off before they go on: `/local`. */
  readonly path?: string | undefined;
  /** Only requests for models of this name; `*` stands for any characters. */
  readonly model?: string | undefined;
  /** Only requests of this wire format. */
  readonly format?: string | undefined;
}

/** The providers' own addresses. */
const defaults: readonly UpstreamRule[] = [
  { url: 'https://api.anthropic.com', format: 'anthropic-messages' },
  { url: 'https://generativelanguage.googleapis.com', format: 'gemini' },
  { url: 'https://api.openai.com' },
];

/** Where one request goes. */
export interface Destination {
  /** Tells upstreams apart: the address without a path. */
  readonly origin: string;
  /** Path and query there. */
  readonly path: string;
}

export interface Directory {
  /** Whether a rule asks for the model, which stands in the body. */
  readonly asksForModel: boolean;
  find(
    target: string,
    route: Route,
    model: string | undefined,
    isAnthropic: boolean,
  ): Destination | undefined;
}

/**
 * Reads the rules. Without any, requests go to the provider whose format they are in.
 * @throws RoundfoldError `usage` for an address that is none
 */
export function createDirectory(rules: readonly UpstreamRule[] = []): Directory {
  const all = rules.length === 0 ? defaults : rules;
  const read = all.map((rule) => ({
    ...rule,
    address: addressOf(rule.url),
    matches: rule.model === undefined ? undefined : glob(rule.model),
    prefix: rule.path?.replace(/\/+$/, ''),
  }));
  return {
    asksForModel: read.some(({ matches }) => matches !== undefined),
    find(target, { format }, model, isAnthropic) {
      const spoken = format ?? (isAnthropic ? 'anthropic-messages' : undefined);
      const rule = read.find(
        (each) =>
          (each.prefix === undefined || isBelow(target, each.prefix)) &&
          (each.format === undefined || each.format === spoken) &&
          (each.matches === undefined || (model !== undefined && each.matches(model))),
      );
      if (rule === undefined) return undefined;
      const rest = rule.prefix === undefined ? target : target.slice(rule.prefix.length) || '/';
      const base = rule.address.pathname.replace(/\/+$/, '');
      return { origin: rule.address.origin, path: joinPaths(base, rest) };
    },
  };
}

/** A base URL often ends in the version that the client's path begins with as well. */
function joinPaths(base: string, rest: string): string {
  const version = /\/v\d[a-z\d]{0,9}$/.exec(base)?.[0];
  const isTwice = version !== undefined && rest.startsWith(`${version}/`);
  return isTwice ? `${base.slice(0, -version.length)}${rest}` : `${base}${rest}`;
}

function isBelow(target: string, prefix: string): boolean {
  return target === prefix || target.startsWith(`${prefix}/`) || target.startsWith(`${prefix}?`);
}

function addressOf(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = address?.protocol === 'https:' || address?.protocol === 'http:';
  if (address !== undefined && isHttp && address.username === '' && address.search === '') return address;
  // Not repeated: it may hold a key.
  throw new RoundfoldError('usage', 'the address of an upstream is no http or https URL', {
    remedy: 'Write it like https://api.anthropic.com, without a key or a query in it.',
  });
}
