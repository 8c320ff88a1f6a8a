import { ConnectionFailed } from '../../db/connection/database-errors.ts';
import { isEngineAway } from '../../temporal/ask-engine.ts';

/** Few, since running workflows need the engine and the database too. */
const AT_ONCE = 4;

/** The number of rows that could not be repaired, and the first of them. */
export type Failures = { count: number; first?: { id: string; error: unknown } };

/**
 * Calls `repair` for each row, a few at a time, until `signal` aborts. A row that fails is counted in the answer and
 * holds up no other. Rejects when the engine or the database is away, since then every row would fail.
 */
export async function repairEach<Row>(
  rows: Row[],
  idOf: (row: Row) => string,
  repair: (row: Row) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<Failures> {
  const failures: Failures = { count: 0 };
  const left = [...rows];
  while (left.length > 0 && !signal?.aborted)
    await Promise.all(
      left.splice(0, AT_ONCE).map((row) =>
        repair(row).catch((error: unknown) => {
          if (error instanceof ConnectionFailed || isEngineAway(error)) throw error;
          failures.count += 1;
          failures.first ??= { id: idOf(row), error };
        }),
      ),
    );
  return failures;
}

/** Throws one error for all rows that could not be repaired, if any. */
export function throwFailures(...all: Failures[]): void {
  const count = all.reduce((sum, failures) => sum + failures.count, 0);
  const first = all.find((failures) => failures.first)?.first;
  if (first)
    throw new Error(`${count} could not be repaired, the first (${first.id}) because: ${first.error}`, {
      cause: first.error,
    });
}
