import type { Strategy } from '../plan/strategy.ts';

/** A strategy around another one: its name and what makes it due are those of the inner one. */
export function decorate(inner: Strategy, compact: Strategy['compact']): Strategy {
  return {
    name: inner.name,
    compact,
    isDue: (conversation, context) => inner.isDue?.(conversation, context) === true,
  };
}

/** What was thrown, for people. Anything can be thrown, also what cannot be made a text of. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : `a thrown ${typeof error}`;
}
