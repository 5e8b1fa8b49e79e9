/**
 * How many properties of a value are read, at any depth, while `use` has it. A scan inside a scan makes the number grow
 * faster than the value.
 */
export function countReads(value: unknown, use: (watched: unknown) => void): number {
  let reads = 0;
  const watch = (inner: unknown): unknown => {
    if (typeof inner !== 'object' || inner === null) return inner;
    return new Proxy(inner, {
      get(target, property, receiver) {
        reads += 1;
        return watch(Reflect.get(target, property, receiver));
      },
    });
  };
  // A proxy may not give anything but the very value of a frozen property, so the value is copied.
  use(watch(structuredClone(value)));
  return reads;
}
