/** What `start` answers. What keeps it from starting is told to the person at the terminal, without a stack, and ends the process. */
export async function exitOnFailure<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    console.error(cause instanceof Error ? cause.message : String(cause));
    process.exit(1);
  }
}
