import { ConnectionFailed } from '../db/connection/connection-failed.ts';
import { grpcCodeOf } from '../engine/grpc-code.ts';

/** Few: what the workers run needs the engine and the database too. */
const AT_ONCE = 4;

/** How many could not be mended, and why the first of them. */
export type Failures = { count: number; first?: unknown };

/**
 * Does `mend` for each row, a few at a time, until `signal` aborts. A row that fails is counted, and holds up no other;
 * rejects when the engine or the database is away, for then all would fail.
 */
export async function repairEach<Row>(
  rows: Row[],
  mend: (row: Row) => Promise<void>,
  failures: Failures,
  signal: AbortSignal | undefined,
): Promise<void> {
  const left = [...rows];
  while (left.length > 0 && !signal?.aborted)
    await Promise.all(
      left.splice(0, AT_ONCE).map((row) =>
        mend(row).catch((error: unknown) => {
          if (isAway(error)) throw error;
          failures.count += 1;
          failures.first ??= error;
        }),
      ),
    );
}

/** Throws one error for all that could not be mended, if any. */
export function throwFailures({ count, first }: Failures): void {
  if (count > 0)
    throw new Error(`${count} could not be mended, the first because: ${first}`, { cause: first });
}

const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;

function isAway(error: unknown): boolean {
  const code = grpcCodeOf(error);
  return (
    error instanceof ConnectionFailed ||
    (code !== undefined && [DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE].includes(code))
  );
}
