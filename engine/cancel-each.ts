const AT_ONCE = 10;

/** Carries out cancellations, some at a time, until the engine is away or `stopping` aborts: the reconciler does the rest. */
export async function cancelEach(
  cancellations: Iterator<() => Promise<boolean>>,
  stopping?: AbortSignal,
): Promise<void> {
  let reachable = true;
  const all = { [Symbol.iterator]: () => cancellations };
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const cancel of all) {
        if (!reachable || stopping?.aborted) return;
        if (!(await cancel())) reachable = false;
      }
    }),
  );
}
