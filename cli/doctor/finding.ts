import { describeNetworkError } from '../../platform/net/describe-network-error.ts';

/** A finding of a check. A warning works today, or cannot be judged from here. `mend` says how to repair it. */
export type Finding = { check: string; state: 'ok' | 'warning' | 'error'; message: string; mend?: string };
export type Check = { name: string; look: () => Promise<Finding[]> };

export const ok = (check: string, message: string): Finding => ({ check, state: 'ok', message });
export const warning = mendable('warning');
export const failure = mendable('error');

function mendable(state: Finding['state']) {
  return (check: string, message: string, mend: string): Finding => ({ check, state, message, mend });
}

/** Maximum time of a check: what answers more slowly is as good as away. */
const CHECK_MAX_MS = 8_000;

/** Carries out a check in bounded time, whatever it hangs at. Never rejects. */
export async function runCheck({ name, look }: Check, maxMs = CHECK_MAX_MS): Promise<Finding[]> {
  const signal = AbortSignal.timeout(maxMs);
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error(`nothing answered within ${maxMs / 1_000} s`))),
  );
  return Promise.race([look(), late]).catch((error: unknown) => [
    failure(
      name,
      `This could not be looked at: ${describe(error)}.`,
      'See the other lines first, then repeat weir doctor.',
    ),
  ]);
}

/** Describes an error as the end of a sentence, in one line. */
export function describe(error: unknown): string {
  // The message of a failed `fetch` says no more than that.
  const told = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  const text = told instanceof Error ? told.message : String(told);
  return describeNetworkError(error, text).split('\n', 1)[0]?.replace(/\.$/, '') ?? '';
}
