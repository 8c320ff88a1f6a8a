const AT_ONCE = 10;

/**
 * Carries out cancellations, ten at a time, until the engine is away or `stopping` aborts. The reconciler carries out the
 * rest.
 */
export async function cancelEach(
  cancellations: (() => Promise<boolean>)[],
  stopping?: AbortSignal,
): Promise<void> {
  let reachable = true;
  const left = cancellations.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const cancel of left) {
        if (!reachable || stopping?.aborted) return;
        if (!(await cancel())) reachable = false;
      }
    }),
  );
}
