/**
 * Freezes a value and everything in it, so that whatever changes its input throws. Returns the value.
 * Bytes stay as they are: a view of them cannot be frozen.
 */
export function deepFreeze<Value>(value: Value): Value {
  // What is frozen already may hold what is not, so only what was seen here is passed over.
  const seen = new Set<object>();
  const queue: unknown[] = [value];
  while (queue.length > 0) {
    const next = queue.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue;
    seen.add(next);
    for (const inner of Object.values(Object.freeze(next))) queue.push(inner);
  }
  return value;
}
