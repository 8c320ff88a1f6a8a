/** Creates a function that runs reads. Concurrent callers with the same `key` share one result. */
export function createSharedReads() {
  const underWay = new Map<string, Promise<unknown>>();
  return function share<T>(key: string, read: () => Promise<T>): Promise<T> {
    const begun = underWay.get(key) as Promise<T> | undefined;
    if (begun) return begun;
    const reading = read().finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };
}
