import type { Plan, PlannedExchange } from './random-plans.ts';

/** The messages of one request that are new in it, and those of the response. */
export interface WrittenExchange {
  readonly request: readonly unknown[];
  readonly response: readonly unknown[];
}

/** What a format needs to write one exchange. */
export interface WritingContext {
  readonly plan: Plan;
  readonly exchange: PlannedExchange;
  readonly index: number;
  /** The exchange before, whose calls are answered here. */
  readonly before: PlannedExchange | undefined;
  /** The id of a call of an exchange. */
  callId(exchangeIndex: number, call: number): string;
}

/** Writes plans as request bodies of one format, each of which the provider accepts. */
export interface BodyWriter {
  readonly format: string;
  /** Changes what the format does not allow together. */
  adapt?(plan: Plan): Plan;
  write(context: WritingContext): WrittenExchange;
  /** Messages in front of the first exchange. */
  opening?(plan: Plan): readonly unknown[];
  /** The beginning of an answer, for a request that ends with it; undefined where no provider takes one. */
  prefill?(text: string): unknown;
  /** The request around a list of messages. */
  frame(plan: Plan, list: readonly unknown[]): unknown;
  /** The list of messages in such a request. */
  list(body: unknown): readonly unknown[];
  /** The same request with another list. */
  withList(body: unknown, list: readonly unknown[]): unknown;
}

/** A writer whose bodies hold their list under one key, or are the list. */
export function listUnder(key: string): Pick<BodyWriter, 'list' | 'withList'> {
  return {
    list: (body) =>
      (Array.isArray(body) ? body : (body as Readonly<Record<string, unknown>>)[key]) as readonly unknown[],
    withList: (body, list) => (Array.isArray(body) ? list : { ...(body as object), [key]: list }),
  };
}

/** The smallest picture there is. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The value in a list, or nothing. */
export function only<Value>(isThere: boolean, value: Value): readonly Value[] {
  return isThere ? [value] : [];
}

/** What is made of a value that may be missing. */
export function present<Value>(
  value: Value | undefined,
  make: (value: Value) => unknown,
): readonly unknown[] {
  return value === undefined ? [] : [make(value)];
}
