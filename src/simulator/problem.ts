/** Why a request is refused, before a provider puts it into its own shape. */
export interface Problem {
  readonly status: number;
  readonly message: string;
  /** Type of the error; default: what the provider uses with this status. */
  readonly type?: string | undefined;
  /** `error.code` on OpenAI, `error.details.error_code` on Anthropic. */
  readonly code?: string | undefined;
  /** `error.param` on OpenAI. */
  readonly param?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The contract's rule that was broken. */
  readonly rule?: string | undefined;
  /** The whole body, where a cloud in front of the provider answers in a shape of its own. */
  readonly body?: unknown;
}

/** What stands in for a result that a refused request does not have. */
export interface Refused {
  readonly problem: Problem;
}

/** Whether a check ended in a refusal. */
export function isRefused(result: object): result is Refused {
  return 'problem' in result;
}

/** Statuses that a client repeats by itself unless it is told not to. */
const retried: ReadonlySet<number> = new Set([408, 409, 429]);

/** What the headers of an error say about trying again. */
export function retryHeaders({ status, retryAfterSeconds }: Problem): Readonly<Record<string, string>> {
  if (retryAfterSeconds !== undefined) return { 'retry-after': `${retryAfterSeconds}` };
  const isFinal = status >= 400 && status < 500 && !retried.has(status);
  return isFinal ? { 'x-should-retry': 'false' } : {};
}
