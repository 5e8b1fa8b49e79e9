import type { RouteKind } from './record.ts';

/** What a request is for, by its method and path. */
export interface Route {
  readonly kind: RouteKind;
  /** Wire format of its body; undefined for routes that are no model's. */
  readonly format: string | undefined;
  /** The model, where the path names it. */
  readonly model: string | undefined;
}

interface Row {
  readonly method: 'GET' | 'POST';
  /** How its path ends: whatever stands before is the base path of an upstream. A first group is the model. */
  readonly path: RegExp;
  readonly kind: Exclude<RouteKind, 'other'>;
  readonly format: string | undefined;
}

/** One row a route. The first that fits decides. */
const rows: readonly Row[] = [
  { method: 'POST', path: /\/v1\/messages$/, kind: 'generate', format: 'anthropic-messages' },
  { method: 'POST', path: /\/v1\/messages\/count_tokens$/, kind: 'count', format: 'anthropic-messages' },
  { method: 'POST', path: /\/chat\/completions$/, kind: 'generate', format: 'openai-chat' },
  { method: 'POST', path: /\/responses$/, kind: 'generate', format: 'openai-responses' },
  { method: 'POST', path: /\/responses\/compact$/, kind: 'compact', format: 'openai-responses' },
  { method: 'POST', path: /\/responses\/input_tokens$/, kind: 'count', format: 'openai-responses' },
  {
    method: 'POST',
    path: /\/models\/([^/:]{1,300}):(?:generateContent|streamGenerateContent)$/,
    kind: 'generate',
    format: 'gemini',
  },
  { method: 'POST', path: /\/models\/([^/:]{1,300}):countTokens$/, kind: 'count', format: 'gemini' },
  { method: 'GET', path: /\/v1\/models(?:\/[^/]{1,300})?$/, kind: 'models', format: undefined },
  { method: 'GET', path: /\/v1beta\/models(?:\/[^/]{1,300})?$/, kind: 'models', format: 'gemini' },
];

const OTHER: Route = { kind: 'other', format: undefined, model: undefined };

/** The route of a request. `target` may have a query. */
export function findRoute(method: string, target: string): Route {
  const [path = ''] = target.split('?', 1);
  for (const row of rows) {
    if (row.method !== method) continue;
    const match = row.path.exec(path);
    if (match === null) continue;
    return {
      kind: row.kind,
      format: row.format,
      model: match[1] === undefined ? undefined : decoded(match[1]),
    };
  }
  return OTHER;
}

/** Whether a request may be folded, so that its body has to be read before it is sent on. */
export function isRead(route: Route): route is Route & { readonly format: string } {
  return (route.kind === 'generate' || route.kind === 'count') && route.format !== undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
