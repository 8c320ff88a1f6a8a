import { describeNetworkError } from '../../platform/net/describe-network-error.ts';

/** A finding of a check. A warning is what works today and may not tomorrow, or cannot be told from here. */
export type Finding = {
  check: string;
  state: 'ok' | 'warning' | 'error';
  message: string;
  /** The way to mend it. */
  mend?: string;
};

type Found = Omit<Finding, 'check' | 'state'>;
/** `found` may have results before the check is done: they are kept when it ends badly or late. */
export type Check = { name: string; look: (signal: AbortSignal, found: Result[]) => Promise<Result[]> };
export type Result = Omit<Finding, 'check'>;

export const ok = (message: string): Result => ({ state: 'ok', message });
export const warning = (message: string, mend: string): Found & Result => ({
  state: 'warning',
  message,
  mend,
});
export const failure = (message: string, mend: string): Found & Result => ({ state: 'error', message, mend });

/** So long a check may take: what answers more slowly is as good as away. */
const CHECK_MAX_MS = 8_000;

/** Carries out a check in bounded time, whatever it hangs at. Never rejects. */
export async function runCheck({ name, look }: Check, maxMs = CHECK_MAX_MS): Promise<Finding[]> {
  const signal = AbortSignal.timeout(maxMs);
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error(`nothing answered within ${maxMs / 1_000} s`))),
  );
  const found: Result[] = [];
  const results = await Promise.race([look(signal, found), late]).catch((error: unknown) => [
    ...found,
    failure(
      `${found.length > 0 ? 'The rest' : 'This'} could not be looked at: ${describe(error)}.`,
      'See the other lines first, then repeat weir doctor.',
    ),
  ]);
  return results.map((result) => ({ check: name, ...result }));
}

/** Describes an error as the end of a sentence, in one line. */
export function describe(error: unknown): string {
  // The message of a failed `fetch` says no more than that.
  const told = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  const text = told instanceof Error ? told.message : String(told);
  return describeNetworkError(error, text).split('\n', 1)[0]?.replace(/\.$/, '') ?? '';
}
