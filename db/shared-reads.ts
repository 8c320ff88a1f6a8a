/** Creates the function that does a read. Those who ask for the same `key` while it is under way share its answer. */
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
