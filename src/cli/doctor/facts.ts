import { isObject } from '../../conversation/json.ts';
import type { ConversationRow } from '../../proxy/observe/account.ts';
import type { Health } from '../../proxy/observe/health.ts';

/** What was found at an address. */
export type Reach = 'proxy' | 'somebody-else' | 'nobody' | 'no-token' | 'ending';

/** Everything that a diagnosis is made from. */
export interface Facts {
  readonly url: string;
  readonly reach: Reach;
  /** Undefined where the proxy does not tell. */
  readonly health: Health | undefined;
  readonly conversations: readonly ConversationRow[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ASK_MS = 5_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Asks a running proxy about itself. Never throws for what it answers. */
export async function gatherFacts(url: string, env: Facts['env']): Promise<Facts> {
  const reach = await reachOf(url, env);
  if (reach !== 'proxy') return { url, reach, health: undefined, conversations: [], env };
  const health = await askJson(`${url}/roundfold/api/health`, env);
  const listed = await askJson(`${url}/roundfold/api/conversations`, env);
  const rows = isObject(listed) && Array.isArray(listed['conversations']) ? listed['conversations'] : [];
  return {
    url,
    reach,
    health: isHealth(health) ? health : undefined,
    conversations: rows.filter(isRow),
    env,
  };
}

async function reachOf(url: string, env: Facts['env']): Promise<Reach> {
  const answer = await ask(`${url}/readyz`, env);
  if (answer === undefined) return 'nobody';
  if (answer.status === 503 && answer.text === 'ending\n') return 'ending';
  // One that waits for its store is a proxy as well, and tells of the store.
  const isProxy = ['200 ok\n', '503 waiting for the store\n'].includes(`${answer.status} ${answer.text}`);
  if (!isProxy) return 'somebody-else';
  const page = await ask(`${url}/roundfold/api/health`, env);
  return page?.status === 401 ? 'no-token' : 'proxy';
}

async function ask(
  url: string,
  env: Facts['env'],
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  const token = env['ROUNDFOLD_TOKEN'];
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_MS),
      headers: token === undefined || token === '' ? {} : { 'x-roundfold-token': token },
    });
    const bytes = await response.arrayBuffer();
    const text = bytes.byteLength > MOST_BYTES ? '' : new TextDecoder().decode(bytes);
    return { status: response.status, text };
  } catch {
    return undefined;
  }
}

async function askJson(url: string, env: Facts['env']): Promise<unknown> {
  const answer = await ask(url, env);
  if (answer?.status !== 200) return undefined;
  try {
    return JSON.parse(answer.text);
  } catch {
    return undefined;
  }
}

function isHealth(value: unknown): value is Health {
  return (
    isObject(value) &&
    typeof value['requests'] === 'number' &&
    Array.isArray(value['passed']) &&
    Array.isArray(value['refused']) &&
    Array.isArray(value['windows']) &&
    isObject(value['byStatus']) &&
    isObject(value['compactions']) &&
    isObject(value['store'])
  );
}

function isRow(value: unknown): value is ConversationRow {
  return isObject(value) && typeof value['id'] === 'string' && typeof value['turns'] === 'number';
}
