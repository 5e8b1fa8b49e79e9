/** Freezes a value and everything in it, so that a function that changes its input throws. Returns the value. */
export function deepFreeze<Value>(value: Value): Value {
  const queue: unknown[] = [value];
  for (let next = queue.pop(); next !== undefined || queue.length > 0; next = queue.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    queue.push(...Object.values(next));
  }
  return value;
}
