/** What was thrown, for people. Anything can be thrown, also what cannot be made a text of. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : `a thrown ${typeof error}`;
}
